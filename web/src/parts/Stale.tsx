import { Failure } from '../api/failure'

/**
 * Why what is shown can't be read again, while it stays for whoever is typing into it. It lies over the end of the window
 * and moves nothing. What passes by itself is not told here.
 */
export function Stale({ error, gone }: { error: unknown; gone: string }) {
  if (!(error instanceof Failure) || error.passing) return null
  return (
    <section className="notice" role="alert">
      {error.status === 404 ? gone : error.message}
    </section>
  )
}

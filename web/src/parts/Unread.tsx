import { Failure } from '../api/failure'
import { text } from '../text/en'
import { Failed } from './Failed'

/** A page of something that could not be read: it is not there, or the service has a reason. */
export function Unread({ error, missing, again }: { error: unknown; missing: string; again: () => unknown }) {
  const gone = error instanceof Failure && error.status === 404
  return (
    <div className="stack">
      <h1>{gone ? text.failure.missing : text.failure.unread}</h1>
      {gone ? <p className="empty">{missing}</p> : <Failed error={error} again={() => void again()} />}
    </div>
  )
}

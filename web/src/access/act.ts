import { useState } from 'react'

/**
 * Runs something that answers with a secret. React Query is left out, since it would keep the answer: whoever asked
 * holds the only copy, and drops it with the window that shows it.
 */
export function useAct() {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const act = async <T>(run: () => Promise<T>): Promise<T | undefined> => {
    setBusy(true)
    try {
      const done = await run()
      setError(undefined)
      return done
    } catch (failed) {
      setError(failed)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, act }
}

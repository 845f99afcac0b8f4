import { useState } from 'react'
import { adviceOn, asCurl, Failure } from '../api/failure'
import { text } from '../text/en'
import { Button } from './Button'

/** What went wrong, in the words of the service, with what helps to look further. */
export function Failed({ error, again }: { error: unknown; again?: () => void }) {
  const [copied, setCopied] = useState(false)
  const failure = error instanceof Failure ? error : undefined
  // Most messages tell the reasons of the fields already.
  const more = Object.entries(failure?.fields ?? {}).filter(([, reason]) => !failure?.message.includes(reason))
  const advice = failure && adviceOn(failure)
  const copy = async () => {
    if (!failure) return
    await navigator.clipboard?.writeText(asCurl(failure.asked, location.origin))
    setCopied(true)
  }
  return (
    <div className="failed settles" role="alert">
      <p dir="auto">{error instanceof Error ? error.message : String(error)}</p>
      {advice && <p>{advice}</p>}
      {more.length > 0 && (
        <ul>
          {more.map(([field, reason]) => (
            <li key={field}>
              <code>{field}</code>: {reason}
            </li>
          ))}
        </ul>
      )}
      {failure?.requestId && (
        <p className="request">
          {text.failure.request} <code>{failure.requestId}</code>
        </p>
      )}
      <div className="actions">
        {again && <Button onClick={again}>{text.failure.again}</Button>}
        {failure && (
          <Button kind="quiet" onClick={() => void copy()}>
            {copied ? text.failure.copied : text.failure.copyCurl}
          </Button>
        )}
      </div>
    </div>
  )
}

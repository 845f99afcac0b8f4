import { text } from '../text/en'

/** What an address shows that leads nowhere. */
export function Nowhere() {
  return (
    <div className="stack">
      <h1>{text.failure.missing}</h1>
      <p className="empty">{text.nowhere}</p>
    </div>
  )
}

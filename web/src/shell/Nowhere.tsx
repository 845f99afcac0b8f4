import { text } from '../text/en'

/** What an address shows that leads nowhere. */
export function Nowhere() {
  return <p className="empty">{text.nowhere}</p>
}

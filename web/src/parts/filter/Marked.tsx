import { Fragment } from 'react'
import type { Place } from './mark'

/** A text of a language with the places that are wrong marked. Nothing where no place is known. */
export function Marked({ code, places }: { code: string; places: Place[] }) {
  if (places.length === 0) return null
  return (
    <code className="marked" dir="ltr">
      {places.map((p, i) => (
        <Fragment key={p.from}>
          {code.slice(places[i - 1]?.to ?? 0, p.from)}
          <mark>{code.slice(p.from, p.to) || '\u00a0'}</mark>
        </Fragment>
      ))}
      {code.slice(places.at(-1)?.to)}
    </code>
  )
}

import { useState } from 'react'
import { number } from '../parts/locale'
import { text } from '../text/en'

/** A text that may be a megabyte in one line: the rest is shown when it is wanted. */
export function Long({ text: all, most = 5000 }: { text: string; most?: number }) {
  const [shown, setShown] = useState(most)
  if (all.length <= shown) return all
  return (
    <>
      {all.slice(0, shown)}…{' '}
      <button type="button" className="link" onClick={() => setShown(shown * 10)}>
        {text.document.rest(number(all.length - shown))}
      </button>
    </>
  )
}

import { type ReactNode, useState } from 'react'
import { text } from '../text/en'
import { closed } from './bidi'
import { number } from './locale'

interface Props {
  text: string
  most?: number
  /** How the text is shown; as it is where nothing is said. */
  show?: (text: string) => ReactNode
}

/** A text that may be a megabyte in one line: the rest is shown when it is wanted. It turns nothing that stands after it. */
export function Long({ text: all, most = 5000, show = (s) => s }: Props) {
  const [shown, setShown] = useState(most)
  if (all.length <= shown) return show(closed(all))
  return (
    <>
      {show(closed(all.slice(0, shown)))}…{' '}
      <button type="button" className="link" onClick={() => setShown(shown * 10)}>
        {text.document.rest(number(all.length - shown))}
      </button>
    </>
  )
}

import { closed } from './bidi'

interface Props {
  children: string | undefined
  className?: string
  title?: string
}

/** A name, an id or another text that somebody gave: whatever it holds, it turns nothing that stands beside it. */
export function Name({ children = '', ...rest }: Props) {
  return <bdi {...rest}>{closed(children)}</bdi>
}

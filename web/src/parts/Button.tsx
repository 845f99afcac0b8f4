import type { ComponentProps, MouseEvent } from 'react'

interface Props extends ComponentProps<'button'> {
  kind?: 'first' | 'plain' | 'quiet' | 'danger'
  /** What the button does is under way: it does nothing meanwhile, and keeps the focus, which a disabled one would lose. */
  busy?: boolean
}

/** A button; the one action that a form or page is for has the kind "first", what can't be undone "danger". */
export function Button({ kind = 'plain', busy = false, ...rest }: Props) {
  const wait = busy ? { 'aria-disabled': true, onClick: (e: MouseEvent) => e.preventDefault() } : {}
  return <button type="button" {...rest} {...wait} className={`button ${rest.className ?? ''}`} data-kind={kind} />
}

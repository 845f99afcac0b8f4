import type { ComponentProps } from 'react'

/** A button; the one action that a form or page is for has the kind "first". */
export function Button({ kind = 'plain', ...rest }: ComponentProps<'button'> & { kind?: 'first' | 'plain' | 'quiet' }) {
  return <button type="button" {...rest} className={`button ${rest.className ?? ''}`} data-kind={kind} />
}

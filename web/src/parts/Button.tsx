import type { ComponentProps } from 'react'

/** A button; the one action that a form or page is for has the kind "first", what can't be undone "danger". */
export function Button({
  kind = 'plain',
  ...rest
}: ComponentProps<'button'> & { kind?: 'first' | 'plain' | 'quiet' | 'danger' }) {
  return <button type="button" {...rest} className={`button ${rest.className ?? ''}`} data-kind={kind} />
}

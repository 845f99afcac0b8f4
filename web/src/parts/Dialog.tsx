import { Dialog as Base } from '@base-ui/react/dialog'
import { type ReactNode, useRef } from 'react'
import { text } from '../text/en'
import { Button } from './Button'

interface Props {
  title: string
  open: boolean
  close: () => void
  children: ReactNode
}

/**
 * A window over the page. The focus begins in its first field, or on the window itself, so that a key that is held does not
 * press what just came, and stays in it; Escape closes it, and the focus returns to where it was.
 */
export function Dialog({ title, open, close, children }: Props) {
  const popup = useRef<HTMLDivElement>(null)
  const firstField = () => popup.current?.querySelector<HTMLElement>('input, select, textarea') ?? popup.current
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && close()}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup className="dialog" ref={popup} initialFocus={firstField}>
          <div className="row dialog-head">
            <Base.Title>{title}</Base.Title>
            <Base.Close render={<Button kind="quiet" aria-label={text.close} />}>×</Base.Close>
          </div>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

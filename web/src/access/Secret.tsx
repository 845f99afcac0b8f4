import { Dialog } from '@base-ui/react/dialog'
import { useRef, useState } from 'react'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { text } from '../text/en'

const t = text.access.secret

/** What is shown once: names with their values, of which some are secret. */
export interface Shown {
  title: string
  why: string
  values: readonly (readonly [label: string, value: string])[]
}

function Value({ label, value }: { label: string; value: string }) {
  const box = useRef<HTMLDivElement>(null)
  // A page that is not served over HTTPS has no clipboard: the text is then selected, and a key copies it.
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      announce(t.wasCopied(label))
    } catch {
      box.current?.querySelector('input')?.select()
      announce(t.selected)
    }
  }
  return (
    <div className="secret" ref={box}>
      <Field label={label} value={value} readOnly onFocus={(e) => e.target.select()} spellCheck={false} />
      <Button onClick={() => void copy()}>
        {t.copy}
        <span className="hidden-text"> {label}</span>
      </Button>
    </div>
  )
}

/** A window with a secret that is never shown again. It stays open until somebody says that they have it. */
export function Secret({ shown, close }: { shown: Shown; close: () => void }) {
  const [taken, setTaken] = useState(false)
  return (
    <Dialog.Root open onOpenChange={(open) => !open && taken && close()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog" finalFocus={() => document.getElementById('content')}>
          <Dialog.Title>{shown.title}</Dialog.Title>
          <p>{shown.why}</p>
          {shown.values.map(([label, value]) => (
            <Value key={label} label={label} value={value} />
          ))}
          <label className="check">
            <input type="checkbox" checked={taken} onChange={(e) => setTaken(e.target.checked)} />
            {t.taken}
          </label>
          <div className="row">
            <Button kind="first" disabled={!taken} onClick={close}>
              {text.close}
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

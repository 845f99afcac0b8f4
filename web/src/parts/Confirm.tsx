import { type FormEvent, useState } from 'react'
import { text } from '../text/en'
import { Button } from './Button'
import { Dialog } from './Dialog'
import { Failed } from './Failed'
import { Field } from './Field'

interface Props {
  title: string
  /** What will be gone. */
  what: string
  /** The name of the action, on the button. */
  act: string
  /** What has to be typed first; nothing where that is too much to ask. */
  typed?: string
  run: () => Promise<unknown>
  close: () => void
}

/** Asks before something that can't be undone. It stays open, with the reason, where the service refuses. */
export function Confirm({ title, what, act, typed, run, close }: Props) {
  const [value, setValue] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (e: FormEvent) => {
    e.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await run()
      close()
    } catch (failed) {
      setError(failed)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} open close={close}>
      <form className="stack" onSubmit={(e) => void submit(e)}>
        <p>{what}</p>
        {typed !== undefined && (
          <Field
            label={text.confirm.type(typed)}
            value={value}
            onChange={(e) => setValue(e.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {error !== undefined && <Failed error={error} />}
        <div className="row">
          <Button kind="danger" type="submit" busy={busy} disabled={typed !== undefined && value !== typed}>
            {act}
          </Button>
          <Button kind="quiet" onClick={close}>
            {text.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

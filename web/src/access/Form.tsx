import type { FormEvent, ReactNode } from 'react'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { text } from '../text/en'
import { isOfRights } from './Rights'

interface Props {
  /** The name of the action, on the button. */
  act: string
  busy: boolean
  error: unknown
  /** The fields that show what is wrong with them by themselves, besides those of roles. */
  places: readonly string[]
  submit: () => void
  cancel?: () => void
  /** What is said beside the button. */
  note?: ReactNode
  children: ReactNode
}

/** A form whose refusal stands at its fields and, where it is about something else, above the button. */
export function Form({ act, busy, error, places, submit, cancel, note, children }: Props) {
  const fields = error instanceof Failure ? Object.keys(error.fields) : []
  const elsewhere = fields.length === 0 || fields.some((f) => !places.includes(f) && !isOfRights(f))
  const submitted = (e: FormEvent) => {
    e.preventDefault()
    submit()
  }
  // The button that has the focus goes away with the form.
  const leave = () => {
    cancel?.()
    document.getElementById('content')?.focus()
  }
  return (
    <form className="card stack" onSubmit={submitted}>
      {children}
      {error != null && elsewhere && <Failed error={error} />}
      <div className="row">
        <Button kind="first" type="submit" busy={busy}>
          {act}
        </Button>
        {cancel && (
          <Button kind="quiet" onClick={leave}>
            {text.cancel}
          </Button>
        )}
        {note}
      </div>
    </form>
  )
}

/** Returns what the service said about the fields of a request. */
export const fieldsOf = (error: unknown): Record<string, string> => (error instanceof Failure ? error.fields : {})

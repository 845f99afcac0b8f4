import { type ReactNode, useId } from 'react'

/** What is told about a field beside its value. */
export interface Told {
  label: string
  hint?: string
  /** What the service said about the value. */
  bad?: string
}

/** What a control needs to be known by its label, with its hint and what is wrong with it. */
interface Tied {
  id: string
  'aria-invalid': true | undefined
  'aria-describedby': string | undefined
}

/** A control below its label, with its hint and what is wrong with it. */
export function Labelled({ label, hint, bad, control }: Told & { control: (tied: Tied) => ReactNode }) {
  const id = useId()
  const described = [hint && `${id}-hint`, bad && `${id}-bad`].filter(Boolean).join(' ') || undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {control({ id, 'aria-invalid': bad ? true : undefined, 'aria-describedby': described })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {bad && (
        <p className="bad" id={`${id}-bad`} role="alert">
          {bad}
        </p>
      )}
    </div>
  )
}

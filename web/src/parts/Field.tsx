import { type ComponentProps, useId } from 'react'

interface Props extends Omit<ComponentProps<'input'>, 'id'> {
  label: string
  hint?: string
  /** What the service said about the value. */
  bad?: string
}

/** A labelled line of text with its hint and what is wrong with it. */
export function Field({ label, hint, bad, ...input }: Props) {
  const id = useId()
  const described = [hint && `${id}-hint`, bad && `${id}-bad`].filter(Boolean).join(' ') || undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} className="input" aria-invalid={bad ? true : undefined} aria-describedby={described} />
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

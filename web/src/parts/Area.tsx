import { type ComponentProps, useId } from 'react'

interface Props extends Omit<ComponentProps<'textarea'>, 'id'> {
  label: string
  hint?: string
  /** What the service said about the value. */
  bad?: string
}

/** A labelled text of several lines. */
export function Area({ label, hint, bad, ...area }: Props) {
  const id = useId()
  const described = [hint && `${id}-hint`, bad && `${id}-bad`].filter(Boolean).join(' ') || undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        {...area}
        id={id}
        className={`input ${area.className ?? ''}`}
        aria-invalid={bad ? true : undefined}
        aria-describedby={described}
      />
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

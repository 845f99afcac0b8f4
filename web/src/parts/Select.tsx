import { type ComponentProps, useId } from 'react'

interface Props extends Omit<ComponentProps<'select'>, 'id'> {
  label: string
  hint?: string
  /** What the service said about the value. */
  bad?: string
  /** Values with what they are called. */
  options: readonly (readonly [value: string, name: string])[]
}

/** A labelled choice of one. */
export function Select({ label, hint, bad, options, ...select }: Props) {
  const id = useId()
  const described = [hint && `${id}-hint`, bad && `${id}-bad`].filter(Boolean).join(' ') || undefined
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select {...select} id={id} className="input" aria-invalid={bad ? true : undefined} aria-describedby={described}>
        {options.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
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

import { useId, useState } from 'react'
import { Field } from '../parts/Field'

interface Props {
  label: string
  value: string
  /** Takes what was typed, once Enter is pressed or the field is left. */
  seek: (value: string) => void
  type?: 'text' | 'datetime-local'
  /** What is often sought. */
  suggested?: readonly string[]
}

/** A field of a filter whose half-typed values mean nothing, and so are not asked for. */
export function Sought({ label, value, seek, type = 'text', suggested = [] }: Props) {
  const list = useId()
  const [typed, setTyped] = useState(value)
  const [shown, setShown] = useState(value)
  if (shown !== value) {
    setShown(value)
    setTyped(value)
  }
  const take = () => typed.trim() !== value && seek(typed.trim())
  return (
    <div>
      <Field
        label={label}
        type={type}
        step={type === 'text' ? undefined : 1}
        value={typed}
        onChange={(e) => setTyped(e.target.value)}
        onBlur={take}
        onKeyDown={(e) => e.key === 'Enter' && take()}
        list={suggested.length > 0 ? list : undefined}
        autoComplete="off"
        spellCheck={false}
      />
      {suggested.length > 0 && (
        <datalist id={list}>
          {suggested.map((s) => (
            <option key={s} value={s} />
          ))}
        </datalist>
      )}
    </div>
  )
}

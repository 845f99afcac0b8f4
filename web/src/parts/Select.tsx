import type { ComponentProps } from 'react'
import { Labelled, type Told } from './Labelled'

interface Props extends Told, Omit<ComponentProps<'select'>, 'id'> {
  /** Values with what they are called. */
  options: readonly (readonly [value: string, name: string])[]
}

/** A labelled choice of one. */
export function Select({ label, hint, bad, options, ...select }: Props) {
  return (
    <Labelled
      label={label}
      hint={hint}
      bad={bad}
      control={(tied) => (
        <select {...select} {...tied} className={`input ${select.className ?? ''}`}>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
    />
  )
}

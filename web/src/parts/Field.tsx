import type { ComponentProps } from 'react'
import { Labelled, type Told } from './Labelled'

/** A labelled line of text. */
export function Field({ label, hint, bad, ...input }: Told & Omit<ComponentProps<'input'>, 'id'>) {
  return (
    <Labelled
      label={label}
      hint={hint}
      bad={bad}
      control={(tied) => <input {...input} {...tied} className={`input ${input.className ?? ''}`} />}
    />
  )
}

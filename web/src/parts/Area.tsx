import type { ComponentProps } from 'react'
import { Labelled, type Told } from './Labelled'

/** A labelled text of several lines. */
export function Area({ label, hint, bad, ...area }: Told & Omit<ComponentProps<'textarea'>, 'id'>) {
  return (
    <Labelled
      label={label}
      hint={hint}
      bad={bad}
      control={(tied) => <textarea {...area} {...tied} className={`input ${area.className ?? ''}`} />}
    />
  )
}

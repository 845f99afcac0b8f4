import type { FormEvent } from 'react'
import { text } from '../../text/en'
import { Button } from '../Button'
import './answer.css'

interface Props {
  value: string
  change: (next: string) => void
  busy: boolean
  submit: () => void
  stop: () => void
  label: string
}

/** The line for a question. Escape stops the answer that is under way. */
export function QuestionLine({ value, change, busy, submit, stop, label }: Props) {
  const send = (e: FormEvent) => {
    e.preventDefault()
    submit()
  }
  return (
    <form onSubmit={send} className="question" onKeyDown={(e) => e.key === 'Escape' && stop()}>
      <input
        className="input"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(e) => change(e.target.value)}
        maxLength={5000}
        required
        dir="auto"
      />
      {busy ? (
        <Button onClick={stop}>{text.ask.stop}</Button>
      ) : (
        <Button kind="first" type="submit">
          {text.ask.submit}
        </Button>
      )}
    </form>
  )
}

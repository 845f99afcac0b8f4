import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { text } from '../text/en'
import { placeOf } from './place'

interface Props {
  value: string
  /** Attributes that a filter may name. */
  attributes: string[]
  error: unknown
  change: (filter: string) => void
}

/** Returns what the service says about a filter, undefined where a failure is about something else. */
export function complaint(error: unknown): string | undefined {
  return error instanceof Failure ? error.fields['query.metadata_filter'] : undefined
}

/** A filter over metadata. What is wrong with it stands below it, with the place marked. */
export function FilterField({ value, attributes, error, change }: Props) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const bad = complaint(error)
  const place = bad ? placeOf(value, bad) : undefined
  useEffect(() => {
    if (!bad || document.activeElement !== input.current) return
    const found = placeOf(value, bad)
    if (found) input.current?.setSelectionRange(found.before.length, found.before.length + found.at.length)
  }, [bad, value])
  const submit = (e: FormEvent) => {
    e.preventDefault()
    change(typed.trim())
  }
  return (
    <form className="field filter-field" onSubmit={submit}>
      <label htmlFor={id}>{text.documents.filter}</label>
      <div className="line">
        <input
          ref={input}
          id={id}
          className="input"
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
          spellCheck={false}
          autoComplete="off"
          list={`${id}-names`}
          placeholder={attributes[0] ? `${attributes[0]} = …` : undefined}
          aria-invalid={bad ? true : undefined}
          aria-describedby={`${id}-hint${bad ? ` ${id}-bad` : ''}`}
        />
        <datalist id={`${id}-names`}>
          {attributes.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button type="submit">{text.documents.apply}</Button>
        {value && (
          <Button kind="quiet" onClick={() => change('')}>
            {text.documents.all}
          </Button>
        )}
      </div>
      <p className="hint" id={`${id}-hint`}>
        {attributes.length > 0 ? text.documents.attributes(attributes.join(', ')) : text.documents.noAttributes}
      </p>
      {bad && (
        <div className="bad" id={`${id}-bad`} role="alert">
          {place && (
            <code>
              {place.before}
              <mark>{place.at || '\u2003'}</mark>
              {place.after}
            </code>
          )}
          <p>{bad}</p>
        </div>
      )}
    </form>
  )
}

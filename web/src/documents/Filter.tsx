import { type FormEvent, useEffect, useState } from 'react'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { FilterEditor } from '../parts/filter/FilterEditor'
import { text } from '../text/en'

/** Returns what the service says about a filter, undefined where a failure is about something else. */
export function complaint(error: unknown): string | undefined {
  return error instanceof Failure ? error.fields['query.metadata_filter'] : undefined
}

interface Props {
  corpus: string
  value: string
  error: unknown
  change: (filter: string) => void
}

/** The filter of the list. What is wrong with it stands below it, until another one is typed. */
export function Filter({ corpus, value, error, change }: Props) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  const submit = (e: FormEvent) => {
    e.preventDefault()
    change(typed.trim())
  }
  return (
    <form className="filter-field" onSubmit={submit}>
      <FilterEditor
        label={text.documents.filter}
        corpus={corpus}
        value={typed}
        change={setTyped}
        bad={typed.trim() === value ? complaint(error) : undefined}
        documentsAlone
      />
      <Button type="submit">{text.documents.apply}</Button>
      {value && (
        <Button kind="quiet" onClick={() => change('')}>
          {text.documents.all}
        </Button>
      )}
    </form>
  )
}

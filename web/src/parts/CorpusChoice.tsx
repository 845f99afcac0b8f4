import { useState } from 'react'
import { text } from '../text/en'
import { named, useCorpora } from './corpusNames'
import { Failed } from './Failed'
import { Name } from './Name'

interface Props {
  label: string
  chosen: string[]
  change: (next: string[]) => void
}

/** A choice of corpora to be searched together: those that are chosen, and the newest, or those that a filter finds. */
export function CorpusChoice({ label, chosen, change }: Props) {
  const [typed, setTyped] = useState('')
  const found = useCorpora(typed)
  const [names, setNames] = useState<Record<string, string>>({}) // of those that were chosen here
  if (found.error) return <Failed error={found.error} again={() => void found.refetch()} />
  const all = found.data ?? []
  const nameOf = (key: string) => all.find((c) => c.key === key)?.name ?? names[key] ?? key
  const rest = all.filter((c) => !chosen.includes(c.key))
  const many = typed !== '' || all.length >= named
  // What is chosen stays where it is found, unless the filter hides it.
  const hidden = chosen.filter((key) => found.isSuccess && !all.some((c) => c.key === key))
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      {many && (
        <input
          className="input"
          type="search"
          aria-label={text.corpora.filter}
          placeholder={text.corpora.filter}
          value={typed}
          onChange={(e) => setTyped(e.target.value)}
        />
      )}
      {found.isSuccess && rest.length === 0 && chosen.length === 0 && (
        <p className="empty">{typed ? text.corpora.noMatch : text.corpora.none}</p>
      )}
      {[...hidden.map((key) => ({ key, name: nameOf(key) })), ...all].map((c) => (
        <label key={c.key} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(c.key)}
            onChange={(e) => {
              setNames((before) => ({ ...before, [c.key]: c.name }))
              change(e.target.checked ? [...chosen, c.key] : chosen.filter((key) => key !== c.key))
            }}
          />
          <Name>{c.name}</Name>
        </label>
      ))}
    </fieldset>
  )
}

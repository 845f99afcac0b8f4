import { text } from '../text/en'
import { useAllCorpora } from './corpusNames'
import { Failed } from './Failed'

interface Props {
  label: string
  chosen: string[]
  change: (next: string[]) => void
}

/** A choice of corpora to be searched together. */
export function CorpusChoice({ label, chosen, change }: Props) {
  const found = useAllCorpora()
  if (found.error) return <Failed error={found.error} again={() => void found.refetch()} />
  const all = found.data ?? []
  const gone = chosen.filter((key) => found.isSuccess && !all.some((c) => c.key === key))
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      {found.isSuccess && all.length === 0 && <p className="empty">{text.corpora.none}</p>}
      {[...all, ...gone.map((key) => ({ key, name: key }))].map((c) => (
        <label key={c.key} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(c.key)}
            onChange={(e) => change(e.target.checked ? [...chosen, c.key] : chosen.filter((key) => key !== c.key))}
          />
          <bdi>{c.name}</bdi>
        </label>
      ))}
    </fieldset>
  )
}

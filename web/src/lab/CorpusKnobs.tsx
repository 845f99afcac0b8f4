import { useRef } from 'react'
import { Button } from '../parts/Button'
import { CorpusField } from '../parts/CorpusField'
import { useCorpora } from '../parts/corpusNames'
import { Field } from '../parts/Field'
import { useSearchable } from '../parts/filter/attributes'
import { FilterEditor } from '../parts/filter/FilterEditor'
import { number } from '../parts/locale'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import { Folded } from './Folded'
import { NumberField } from './NumberField'
import { type Searched, searched } from './settings'

const t = text.lab.corpora

interface One {
  n: number
  corpus: Searched
  change: (part: Partial<Searched>) => void
  remove?: () => void
  fields: Record<string, string>
}

/** What holds for one corpus alone. */
function CorpusKnobs({ n, corpus, change, remove, fields }: One) {
  const { data } = useSearchable(corpus.key)
  const bad = (member: string) => fields[`body.search.corpora[${n - 1}].${member}`]
  // A weight of a dimension that the corpus lacks is shown, too, so that it can be taken back.
  const declared = Object.fromEntries((data?.custom_dimensions ?? []).map((d) => [d.name, d.querying_default ?? 0]))
  const names = [...new Set([...Object.keys(declared), ...Object.keys(corpus.dimensions)])]
  const weigh = (name: string, weight: number | undefined) => {
    const { [name]: _, ...others } = corpus.dimensions
    change({ dimensions: weight === undefined ? others : { ...others, [name]: weight } })
  }
  const more = corpus.lambda !== undefined || corpus.semantics || corpus.query || Object.keys(corpus.dimensions).length
  const wrong = Object.keys(fields).some(
    (f) => f.startsWith(`body.search.corpora[${n - 1}]`) && !f.endsWith('metadata_filter') && !f.endsWith('corpus_key'),
  )
  return (
    <fieldset className="knobs-of-one">
      <legend className="hidden-text">{t.nth(n)}</legend>
      <div className="named">
        <CorpusField
          label={t.corpus}
          value={corpus.key}
          change={(key) => change({ key, dimensions: {} })}
          bad={bad('corpus_key')}
          required
        />
        {remove && (
          <Button kind="quiet" onClick={remove} aria-label={t.remove(corpus.key)}>
            ×
          </Button>
        )}
      </div>
      <FilterEditor
        label={t.filter}
        corpus={corpus.key}
        value={corpus.filter}
        change={(filter) => change({ filter })}
        bad={bad('metadata_filter')}
      />
      <Folded title={t.more} open={Boolean(more)} wrong={wrong}>
        <div className="knobs">
          <NumberField
            label={t.lambda}
            hint={t.lambdaHint}
            value={corpus.lambda}
            change={(lambda) => change({ lambda })}
            step="any"
            bad={bad('lexical_interpolation')}
          />
          <Select
            label={t.semantics}
            value={corpus.semantics}
            options={(['', 'query', 'response', 'default'] as const).map((s) => [s, t.semanticsOf[s]] as const)}
            onChange={(e) => change({ semantics: e.target.value as Searched['semantics'] })}
            bad={bad('semantics')}
          />
          <Field
            label={t.own}
            hint={t.ownHint}
            value={corpus.query}
            onChange={(e) => change({ query: e.target.value })}
            bad={bad('query')}
            dir="auto"
          />
          {names.map((name) => (
            <NumberField
              key={name}
              label={t.dimension(name)}
              hint={declared[name] === undefined ? undefined : t.dimensionHint(number(declared[name]))}
              value={corpus.dimensions[name]}
              change={(weight) => weigh(name, weight)}
              step="any"
              bad={bad('custom_dimensions')}
            />
          ))}
        </div>
      </Folded>
    </fieldset>
  )
}

interface All {
  corpora: Searched[]
  change: (next: Searched[]) => void
  fields: Record<string, string>
}

/** The corpora that are searched together, each with what holds for it alone. The same one may stand there twice. */
export function CorporaKnobs({ corpora, change, fields }: All) {
  const names = useCorpora().data ?? []
  const add = useRef<HTMLButtonElement>(null)
  const next = names.find((c) => corpora.every((one) => one.key !== c.key)) ?? names[0]
  const remove = (i: number) => {
    change(corpora.filter((_, j) => i !== j))
    add.current?.focus()
  }
  return (
    <div className="stack">
      {corpora.map((corpus, i) => (
        <CorpusKnobs
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is known by its place
          key={i}
          n={i + 1}
          corpus={corpus}
          change={(part) => change(corpora.map((c, j) => (i === j ? { ...c, ...part } : c)))}
          remove={corpora.length > 1 ? () => remove(i) : undefined}
          fields={fields}
        />
      ))}
      <Button ref={add} disabled={!next} onClick={() => next && change([...corpora, searched(next.key)])}>
        {t.add}
      </Button>
    </div>
  )
}

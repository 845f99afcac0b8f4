import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import type { Dimension } from './corpora'

interface Props {
  rows: Dimension[]
  change: (next: Dimension[]) => void
  /** Of the request that sent them: what is wrong with each. */
  error?: unknown
}

/** Dimensions of a new corpus, one below the other. */
export function DimensionRows({ rows, change, error }: Props) {
  const fields = error instanceof Failure ? error.fields : {}
  const set = (i: number, part: Partial<Dimension>) => change(rows.map((r, j) => (i === j ? { ...r, ...part } : r)))
  const bad = (i: number, member: string) => fields[`body.custom_dimensions[${i}].${member}`]
  return (
    <fieldset className="rows">
      <legend>{text.dimensions.title}</legend>
      <p className="about">{text.dimensions.hint}</p>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
        <div className="grid-row" key={i}>
          <Field
            label={text.dimensions.name}
            value={row.name}
            onChange={(e) => set(i, { name: e.target.value })}
            bad={bad(i, 'name')}
            spellCheck={false}
            required
          />
          <Field
            label={text.dimensions.indexing}
            type="number"
            step="any"
            value={row.indexing_default ?? 0}
            onChange={(e) => set(i, { indexing_default: e.target.valueAsNumber || 0 })}
            bad={bad(i, 'indexing_default')}
          />
          <Field
            label={text.dimensions.querying}
            type="number"
            step="any"
            value={row.querying_default ?? 0}
            onChange={(e) => set(i, { querying_default: e.target.valueAsNumber || 0 })}
            bad={bad(i, 'querying_default')}
          />
          <Button kind="quiet" onClick={() => change(rows.filter((_, j) => i !== j))}>
            {text.attributes.remove}
            <span className="hidden-text"> {row.name}</span>
          </Button>
        </div>
      ))}
      <Button onClick={() => change([...rows, { name: '', indexing_default: 0, querying_default: 0 }])}>
        {text.dimensions.add}
      </Button>
    </fieldset>
  )
}

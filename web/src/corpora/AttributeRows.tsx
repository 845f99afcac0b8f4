import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import type { Attribute } from './corpora'

const types = ['text', 'integer', 'real_number', 'boolean', 'list[text]', 'list[integer]', 'list[real_number]'] as const

interface Props {
  rows: Attribute[]
  change: (next: Attribute[]) => void
  /** Of the request that sent them: what is wrong with each. */
  error?: unknown
}

/** Attributes to be declared, one below the other. */
export function AttributeRows({ rows, change, error }: Props) {
  const fields = error instanceof Failure ? error.fields : {}
  const set = (i: number, part: Partial<Attribute>) => change(rows.map((r, j) => (i === j ? { ...r, ...part } : r)))
  const bad = (i: number, member: string) => fields[`body.filter_attributes[${i}].${member}`]
  return (
    <fieldset className="rows">
      <legend>{text.attributes.title}</legend>
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
        <div className="grid-row" key={i}>
          <Field
            label={text.attributes.name}
            value={row.name}
            onChange={(e) => set(i, { name: e.target.value })}
            bad={bad(i, 'name')}
            spellCheck={false}
            required
          />
          <Select
            label={text.attributes.level}
            value={row.level}
            onChange={(e) => set(i, { level: e.target.value as Attribute['level'] })}
            options={[
              ['document', text.attributes.document],
              ['part', text.attributes.part],
            ]}
            bad={bad(i, 'level')}
          />
          <Select
            label={text.attributes.type}
            value={row.type}
            onChange={(e) => set(i, { type: e.target.value as Attribute['type'] })}
            options={types.map((t) => [t, text.attributes.types[t]] as const)}
            bad={bad(i, 'type')}
          />
          <Field
            label={text.attributes.description}
            value={row.description ?? ''}
            onChange={(e) => set(i, { description: e.target.value })}
            bad={bad(i, 'description')}
          />
          <Button kind="quiet" onClick={() => change(rows.filter((_, j) => i !== j))}>
            {text.attributes.remove}
            <span className="hidden-text"> {row.name}</span>
          </Button>
        </div>
      ))}
      <Button
        onClick={() => change([...rows, { name: '', level: 'document', type: 'text', indexed: true, description: '' }])}
      >
        {text.attributes.add}
      </Button>
    </fieldset>
  )
}

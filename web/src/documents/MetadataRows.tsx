import { useEffect, useRef } from 'react'
import { Area } from '../parts/Area'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import { cut } from './cells'
import { inKind, type Kind, kinds, newRow, type Row } from './metadata'

function Value({ row, bad, change }: { row: Row; bad?: string; change: (row: Row) => void }) {
  const label = text.metadata.value
  const set = (value: string) => change({ ...row, text: value })
  if (row.kind === 'boolean')
    return (
      <Select
        label={label}
        value={row.text}
        onChange={(e) => set(e.target.value)}
        bad={bad}
        options={[
          ['true', text.metadata.yes],
          ['false', text.metadata.no],
        ]}
      />
    )
  const lines = row.kind === 'texts' || row.kind === 'numbers'
  if (lines || row.kind === 'json' || row.text.length > 80 || row.text.includes('\n'))
    return (
      <Area
        label={label}
        hint={lines ? text.metadata.perLine : undefined}
        value={row.text}
        rows={Math.min(6, row.text.split('\n').length + 1)}
        onChange={(e) => set(e.target.value)}
        bad={bad}
        dir="auto"
        spellCheck={row.kind === 'text'}
      />
    )
  return (
    <Field
      label={label}
      value={row.text}
      inputMode={row.kind === 'number' ? 'decimal' : undefined}
      onChange={(e) => set(e.target.value)}
      bad={bad}
      dir="auto"
    />
  )
}

interface Props {
  rows: Row[]
  bad: Record<number, string>
  change: (rows: Row[]) => void
}

/** Metadata with the type of each value. */
export function MetadataRows({ rows, bad, change }: Props) {
  const set = (next: Row) => change(rows.map((r) => (r.id === next.id ? next : r)))
  const box = useRef<HTMLFieldSetElement>(null)
  const focus = useRef<number>(undefined)
  useEffect(() => {
    if (focus.current === undefined) return
    const at = Math.min(focus.current, rows.length - 1)
    focus.current = undefined
    const to = at < 0 ? 'button' : `.metadata-row:nth-of-type(${at + 1}) input`
    box.current?.querySelector<HTMLElement>(to)?.focus()
  }, [rows])
  return (
    <fieldset className="rows metadata-rows" ref={box}>
      <legend className="hidden-text">{text.metadata.title}</legend>
      {rows.map((row, i) => (
        <div className="metadata-row" key={row.id}>
          <Field
            label={text.metadata.key}
            value={row.key}
            onChange={(e) => set({ ...row, key: e.target.value })}
            spellCheck={false}
            dir="auto"
          />
          <Select
            label={text.metadata.type}
            value={row.kind}
            onChange={(e) => set(inKind(row, e.target.value as Kind))}
            options={kinds.map((k) => [k, text.metadata.kinds[k]] as const)}
          />
          <Value row={row} bad={bad[row.id]} change={set} />
          <Button
            kind="quiet"
            aria-label={text.metadata.removeOne(cut(row.key, 60))}
            onClick={() => {
              focus.current = i
              change(rows.filter((r) => r.id !== row.id))
            }}
          >
            {text.metadata.remove}
          </Button>
        </div>
      ))}
      <Button
        onClick={() => {
          focus.current = rows.length
          change([...rows, newRow()])
        }}
      >
        {text.metadata.add}
      </Button>
    </fieldset>
  )
}

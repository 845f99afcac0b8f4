import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react'
import { text } from '../../text/en'
import { number } from '../locale'
import { Name } from '../Name'
import { referencesOf, useSearchable, useValues } from './attributes'
import { accept, complete, type Option, valuesWanted } from './complete'
import { Marked } from './Marked'
import { marked } from './mark'
import './filter.css'

interface Props {
  label: string
  /** The corpus whose attributes are completed. */
  corpus: string
  value: string
  change: (next: string) => void
  /** What the service said about the filter; the place that it names is marked until the filter changes. */
  bad?: string
  /** Whether filters can only speak of documents, as in the list of documents. */
  documentsAlone?: boolean
}

function Offered({ option, id, active, choose }: { option: Option; id: string; active: boolean; choose: () => void }) {
  const row = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (active) row.current?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
    // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
    <div
      ref={row}
      id={id}
      role="option"
      aria-selected={active}
      onMouseDown={(e) => e.preventDefault()}
      onClick={choose}
    >
      <Name>{option.insert}</Name>
      <span className="about">
        {option.type && text.filter.types[option.type]}
        {option.count !== undefined && text.filter.count(number(option.count), option.count)}
        {option.description && ` · ${option.description}`}
      </span>
    </div>
  )
}

/** A filter expression, completed by keys: arrows choose, Enter takes, Escape closes. */
export function FilterEditor({ label, corpus, value, change, bad, documentsAlone }: Props) {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [caret, setCaret] = useState(0)
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  // The caret stands behind what was put in once React has written the new value.
  const next = useRef<number>(undefined)
  const { data, refetch } = useSearchable(corpus)
  useEffect(() => {
    if (bad) void refetch() // somebody may have replaced the attributes meanwhile
  }, [bad, refetch])
  const attributes = useMemo(
    () => referencesOf(data?.filter_attributes ?? [], documentsAlone),
    [data?.filter_attributes, documentsAlone],
  )
  const values = useValues(corpus, open ? valuesWanted(value, caret, attributes) : undefined)
  const completion = complete(value, caret, attributes, values)
  const shown = open && completion.options.length > 0
  useEffect(() => {
    if (next.current === undefined) return
    input.current?.setSelectionRange(next.current, next.current)
    next.current = undefined
  })

  const take = (o: Option) => {
    const done = accept(value, completion, o)
    next.current = done.caret
    setCaret(done.caret)
    setActive(-1)
    change(done.filter)
    input.current?.focus()
  }
  const keys = (e: KeyboardEvent) => {
    const count = completion.options.length
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault()
      if (!shown) return setOpen(true)
      setActive((active + (e.key === 'ArrowDown' ? 1 : active < 0 ? 0 : -1) + count) % count)
    } else if (e.key === 'Enter' && shown && active >= 0) {
      e.preventDefault()
      const chosen = completion.options[active]
      if (chosen) take(chosen)
    } else if (e.key === 'Escape' && shown) {
      e.preventDefault()
      e.stopPropagation()
      setOpen(false)
      setActive(-1)
    } else if (e.key === 'Enter') setOpen(false)
  }
  const moved = () => setCaret(input.current?.selectionStart ?? value.length)
  return (
    <div className="field filter-editor">
      <label htmlFor={id}>{label}</label>
      <div className="completed">
        <input
          ref={input}
          id={id}
          className="input"
          role="combobox"
          aria-autocomplete="list"
          aria-expanded={shown}
          aria-controls={shown ? `${id}-list` : undefined}
          aria-activedescendant={shown && active >= 0 ? `${id}-${active}` : undefined}
          aria-invalid={bad ? true : undefined}
          aria-describedby={bad ? `${id}-bad` : undefined}
          value={value}
          placeholder={text.filter.example}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(e) => {
            change(e.target.value)
            setCaret(e.target.selectionStart ?? e.target.value.length)
            setActive(-1)
            setOpen(true)
          }}
          onSelect={moved}
          onKeyDown={keys}
          onClick={() => setOpen(true)}
          onBlur={() => {
            setOpen(false)
            setActive(-1)
          }}
        />
        {shown && (
          <div className="options" id={`${id}-list`} role="listbox" aria-label={text.filter.options(label)}>
            {completion.options.map((o, i) => (
              <Offered key={o.insert} option={o} id={`${id}-${i}`} active={i === active} choose={() => take(o)} />
            ))}
          </div>
        )}
      </div>
      {bad && (
        <div id={`${id}-bad`} className="bad" role="alert">
          <Marked code={value} places={marked(value, bad)} />
          <p>{bad}</p>
        </div>
      )}
    </div>
  )
}

import { type KeyboardEvent, useId, useState } from 'react'
import { text } from '../text/en'
import { type Named, useCorpora } from './corpusNames'
import { Labelled, type Told } from './Labelled'
import { Name } from './Name'

interface Props extends Told {
  /** The key of the corpus; empty for none. */
  value: string
  change: (key: string) => void
  /** What stands for no corpus, where that is a choice. */
  any?: string
  required?: boolean
  autoFocus?: boolean
}

/** Returns the options for what was typed, with that of no corpus where nothing was. */
function optionsOf(found: Named[], typed: string, any: string | undefined): Named[] {
  return any !== undefined && typed === '' ? [{ key: '', name: any }, ...found] : found
}

/**
 * A choice of one corpus, found by its name as one types. Arrows choose, Enter takes, Escape takes the typing back. A key can be
 * typed, too, that is not among those found.
 */
export function CorpusField({ value, change, any, required, autoFocus, ...told }: Props) {
  const list = useId()
  const [typed, setTyped] = useState<string>() // undefined while nobody types
  const [open, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const options = optionsOf(useCorpora(open ? typed : '').data ?? [], typed ?? '', any)
  const shown = open && options.length > 0

  const close = () => {
    setTyped(undefined)
    setOpen(false)
    setActive(-1)
  }
  const take = (key: string) => {
    close()
    if (key !== value) change(key)
  }
  /** Takes what was typed: the corpus of that name, if it is the only one, else the key. */
  const settle = () => {
    if (typed === undefined) return close()
    const name = typed.trim()
    const called = options.filter((o) => o.name === name)
    take(options.some((o) => o.key === name) || called.length !== 1 ? name : (called[0]?.key ?? name))
  }
  const keys = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') {
      e.preventDefault()
      if (!shown) return setOpen(true)
      const count = options.length
      setActive((active + (e.key === 'ArrowDown' ? 1 : active < 0 ? 0 : -1) + count) % count)
    } else if (e.key === 'Enter') {
      const chosen = shown ? options[active] : undefined
      if (chosen) {
        e.preventDefault()
        take(chosen.key)
      } else settle()
    } else if (e.key === 'Escape' && open) {
      e.preventDefault()
      e.stopPropagation()
      close()
    }
  }
  return (
    <Labelled
      {...told}
      control={(tied) => (
        <div className="completed">
          <input
            {...tied}
            className="input"
            role="combobox"
            aria-autocomplete="list"
            aria-expanded={shown}
            aria-controls={shown ? list : undefined}
            aria-activedescendant={shown && active >= 0 ? `${list}-${active}` : undefined}
            value={typed ?? value}
            placeholder={any}
            required={required}
            // biome-ignore lint/a11y/noAutofocus: a row that was just added
            autoFocus={autoFocus}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            dir="auto"
            onChange={(e) => {
              setTyped(e.target.value)
              setActive(-1)
              setOpen(true)
            }}
            onKeyDown={keys}
            onFocus={(e) => e.target.select()}
            onClick={() => setOpen(true)}
            onBlur={settle}
          />
          {shown && (
            <div className="options" id={list} role="listbox" aria-label={text.corpora.title}>
              {options.map((o, i) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
                // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
                <div
                  key={o.key}
                  id={`${list}-${i}`}
                  role="option"
                  aria-selected={i === active}
                  onMouseDown={(e) => e.preventDefault()}
                  onClick={() => take(o.key)}
                >
                  <Name>{o.name}</Name>
                  {o.key !== o.name && <Name className="about">{o.key}</Name>}
                </div>
              ))}
            </div>
          )}
        </div>
      )}
    />
  )
}

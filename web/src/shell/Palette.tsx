import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { useCorpora } from '../parts/corpusNames'
import { Dialog } from '../parts/Dialog'
import { leave } from '../parts/draft'
import { Name } from '../parts/Name'
import { useMay } from '../session/caller'
import { signOut } from '../session/session'
import { text } from '../text/en'
import { areas } from './areas'
import { type Command, matching } from './commands'

/** All that can be gone to or done from anywhere. */
function useCommands(typed: string): Command[] {
  const [, go] = useLocation()
  const may = useMay()
  const acts = useMemo<Command[]>(
    () => [
      ...areas
        .filter((a) => !a.needs || may(a.needs))
        .map((a) => ({ name: a.name, kind: text.palette.area, run: () => go(a.path) })),
      ...(may('createChat') ? [{ name: text.chats.create, kind: text.palette.act, run: () => go('/chats/new') }] : []),
      { name: text.session.leave, kind: text.palette.act, run: () => leave(signOut) },
    ],
    [go, may],
  )
  const corpora = useCorpora(typed, matching(acts, typed).length === 0)
  return useMemo(
    () => [
      ...acts,
      ...(corpora.data ?? []).map((c) => ({
        name: c.name,
        also: c.key,
        kind: text.palette.corpus,
        run: () => go(`/corpora/${encodeURIComponent(c.key)}`),
      })),
    ],
    [acts, corpora.data, go],
  )
}

function List({ close }: { close: () => void }) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const found = matching(useCommands(typed), typed).slice(0, 12)
  const chosen = Math.min(at, found.length - 1)
  const run = (c: Command | undefined) => {
    close()
    c?.run()
  }
  const key = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (step !== undefined) {
      e.preventDefault()
      setAt((chosen + step + found.length) % Math.max(1, found.length))
    } else if (e.key === 'Enter') run(found[chosen])
  }
  return (
    <div className="stack">
      <input
        className="input"
        role="combobox"
        aria-label={text.palette.title}
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={text.palette.hint}
        value={typed}
        onChange={(e) => {
          setTyped(e.target.value)
          setAt(0)
        }}
        onKeyDown={key}
      />
      {found.length === 0 && <p className="empty">{text.palette.none}</p>}
      <div role="listbox" id={id} aria-label={text.palette.title} className="commands">
        {found.map((c, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input has the keys
          // biome-ignore lint/a11y/useFocusableInteractive: the input keeps the focus
          <div
            key={`${c.kind} ${c.also ?? c.name}`}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === chosen}
            className="command"
            onClick={() => run(c)}
          >
            <Name>{c.name}</Name> <span className="about">{c.kind}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

/** The palette: Ctrl-K, or ⌘K, opens it from anywhere. */
export function Palette() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const hear = (e: globalThis.KeyboardEvent) => {
      if (e.key.toLowerCase() !== 'k' || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return
      e.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
  return (
    <Dialog title={text.palette.title} open={open} close={() => setOpen(false)}>
      <List close={() => setOpen(false)} />
    </Dialog>
  )
}

import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { useDraft } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import { cellOf, cut } from './cells'
import { changeMetadata, type Metadata, readDocument } from './documents'
import { MetadataRows } from './MetadataRows'
import { editOf, type Foreign, foreign, rowsOf, sorted } from './metadata'

interface ConflictProps {
  changed: Foreign[]
  mine: Metadata
  keep: () => void
  take: () => void
}

/** What somebody else has changed meanwhile, beside what would be saved here. */
function Conflict({ changed, mine, keep, take }: ConflictProps) {
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.focus(), [])
  const shown = (value: unknown) => (value === undefined ? <em>{text.metadata.gone}</em> : <Name>{cellOf(value)}</Name>)
  return (
    <section className="conflict" ref={box} tabIndex={-1} aria-label={text.metadata.conflict}>
      <h3>{text.metadata.conflict}</h3>
      <p>{text.metadata.conflictWhy}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is moved by keys */}
      <section className="scrolls" tabIndex={0} aria-label={text.metadata.differences}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text.metadata.key}</th>
              <th scope="col">{text.metadata.was}</th>
              <th scope="col">{text.metadata.is}</th>
              <th scope="col">{text.metadata.yours}</th>
            </tr>
          </thead>
          <tbody>
            {changed.map((f) => (
              <tr key={f.key}>
                <th scope="row">
                  <Name>{cut(f.key, 60)}</Name>
                </th>
                <td>{shown(f.before)}</td>
                <td>{shown(f.now)}</td>
                <td>
                  {Object.hasOwn(mine, f.key) ? shown(mine[f.key] ?? undefined) : <em>{text.metadata.untouched}</em>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div className="row">
        <Button onClick={keep}>{text.metadata.keep}</Button>
        <Button onClick={take}>{text.metadata.take}</Button>
      </div>
    </section>
  )
}

/** What is edited: rows that began as some metadata. */
const begun = (base: Metadata) => ({ base, rows: rowsOf(base) })

function unsaved({ base, rows }: ReturnType<typeof begun>): boolean {
  const { changes, bad } = editOf(base, rows)
  return Object.keys(changes).length + Object.keys(bad).length > 0
}

interface Props {
  corpus: string
  id: string
  metadata: Metadata
  saved: (metadata: Metadata) => void
  close: () => void
}

/**
 * Changes the metadata of a document. Only what was changed is sent, and before that the document is read again: what
 * somebody else has changed meanwhile is shown, and nothing is saved until it was decided what stays.
 */
export function MetadataForm({ corpus, id, metadata, saved, close }: Props) {
  const [first] = useState(() => begun(metadata))
  const [{ base, rows }, setEdited] = useDraft('metadata', first, unsaved)
  const [bad, setBad] = useState<Record<number, string>>({})
  const [other, setOther] = useState<Metadata>()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  const edit = editOf(base, rows)
  const dirty = Object.keys(edit.changes).length > 0
  useEffect(() => {
    if (Object.keys(bad).length > 0) form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  }, [bad])

  /** Saves, provided that the document still is what somebody has seen of it. */
  const save = async (seen: Metadata) => {
    if (busy) return
    setBad(edit.bad)
    setError(undefined)
    if (Object.keys(edit.bad).length > 0) return
    setBusy(true)
    try {
      const now = (await readDocument(corpus, id)).metadata ?? {}
      if (foreign(seen, now).length > 0) return setOther(now)
      const done = dirty ? ((await changeMetadata(corpus, id, edit.changes)).metadata ?? {}) : now
      announce(text.metadata.saved)
      saved(done)
      close()
    } catch (failed) {
      const [at, rest] = sorted(failed instanceof Failure ? failed.fields : {}, rows)
      setBad(at)
      if (rest) setError(failed)
    } finally {
      setBusy(false)
    }
  }
  const take = () => {
    if (!other) return
    setEdited(begun(other))
    saved(other)
    setOther(undefined)
    setBad({})
  }
  const submit = (e: FormEvent) => {
    e.preventDefault()
    void save(other ?? base)
  }
  return (
    <form ref={form} className="card stack" onSubmit={submit} aria-label={text.metadata.edit}>
      <h3>{text.metadata.edit}</h3>
      <MetadataRows rows={rows} bad={bad} change={(next) => setEdited({ base, rows: next })} />
      {other && (
        <Conflict changed={foreign(base, other)} mine={edit.changes} keep={() => void save(other)} take={take} />
      )}
      {error !== undefined && <Failed error={error} />}
      <div className="row">
        {!other && (
          <Button kind="first" type="submit">
            {text.metadata.save}
          </Button>
        )}
        <Button kind="quiet" onClick={close}>
          {text.cancel}
        </Button>
      </div>
    </form>
  )
}

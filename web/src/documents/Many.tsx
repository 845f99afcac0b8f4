import { type FormEvent, useEffect, useState } from 'react'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { Dialog } from '../parts/Dialog'
import { useDraft } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { JobLine } from '../parts/JobLine'
import { jobEnded, jobStarted, useJob } from '../parts/jobs'
import { number } from '../parts/locale'
import { Select } from '../parts/Select'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { changeAll, countDocuments, deleteAll } from './documents'
import { MetadataRows } from './MetadataRows'
import { editOf, newRow, sorted } from './metadata'
import type { Which } from './selection'

/** How many documents a selection holds, as far as they are counted. */
function useCount(corpus: string, which: Which) {
  const [state, setState] = useState<{ n: number; done: boolean; error?: unknown }>({ n: 0, done: false })
  const key = JSON.stringify(which)
  useEffect(() => {
    const selected = JSON.parse(key) as Which
    if ('ids' in selected) return setState({ n: selected.ids.length, done: true })
    const counting = new AbortController()
    countDocuments(corpus, selected.filter, counting.signal, (n) => setState({ n, done: false })).then(
      (n) => setState({ n, done: true }),
      (error) => !counting.signal.aborted && setState({ n: 0, done: false, error }),
    )
    return () => counting.abort()
  }, [corpus, key])
  return state
}

interface Asked {
  corpus: string
  which: Which
  close: () => void
  begun: (jobs: string[]) => void
}

function Delete({ corpus, which, close, begun, n }: Asked & { n: number }) {
  const run = async () => begun(await deleteAll(corpus, which))
  return (
    <Confirm
      title={text.many.remove}
      what={text.many.removeWhat(number(n), n)}
      act={text.many.removeAct(number(n), n)}
      run={run}
      close={close}
    />
  )
}

function Change({ corpus, which, close, begun, n }: Asked & { n: number }) {
  const [first] = useState(() => [newRow()])
  const [rows, setRows] = useDraft('many', first)
  const [strategy, setStrategy] = useState<'merge' | 'replace'>('merge')
  const [bad, setBad] = useState<Record<number, string>>({})
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async (e: FormEvent) => {
    e.preventDefault()
    const edit = editOf({}, rows)
    setBad(edit.bad)
    setError(undefined)
    if (Object.keys(edit.bad).length > 0) return
    setBusy(true)
    try {
      begun(await changeAll(corpus, which, edit.changes, strategy))
      close()
    } catch (failed) {
      const [at, other] = sorted(failed instanceof Failure ? failed.fields : {}, rows)
      setBad(at)
      if (other) setError(failed)
      setBusy(false)
    }
  }
  return (
    <Dialog title={text.many.change} open close={close}>
      <form className="stack" onSubmit={(e) => void submit(e)}>
        <p>{text.many.changeWhat(number(n), n)}</p>
        <Select
          label={text.many.strategy}
          value={strategy}
          onChange={(e) => setStrategy(e.target.value as 'merge' | 'replace')}
          options={[
            ['merge', text.many.merge],
            ['replace', text.many.replace],
          ]}
        />
        <MetadataRows rows={rows} bad={bad} change={setRows} />
        {error !== undefined && <Failed error={error} />}
        <div className="row">
          <Button kind="first" type="submit" busy={busy} disabled={n === 0}>
            {text.many.changeAct(number(n), n)}
          </Button>
          <Button kind="quiet" onClick={close}>
            {text.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Counts first what will be touched, and then asks. */
function Asks(props: Asked & { what: 'remove' | 'change' }) {
  const { n, done, error } = useCount(props.corpus, props.which)
  if (done && n > 0) return props.what === 'remove' ? <Delete {...props} n={n} /> : <Change {...props} n={n} />
  return (
    <Dialog title={text.many[props.what]} open close={props.close}>
      {error !== undefined ? (
        <Failed error={error} />
      ) : (
        <p role="status">{done ? text.many.nothing : text.many.counting(number(n))}</p>
      )}
    </Dialog>
  )
}

function Running({ id, ended }: { id: string; ended: () => void }) {
  const { data } = useJob(id)
  const over = data !== undefined && jobEnded(data)
  useEffect(() => {
    if (!over) return
    announce(text.many.ended)
    ended()
  }, [over, ended])
  return <JobLine id={id} />
}

interface Props {
  corpus: string
  filter: string
  /** Whether the filter selects something, as far as is known. */
  ready: boolean
  chosen: ReadonlySet<string>
  forget: () => void
  ended: () => void
}

/** What can be done with many documents at once: with those that were chosen, or else with all that the filter selects. */
export function Many({ corpus, filter, ready, chosen, forget, ended }: Props) {
  const [asks, setAsks] = useState<'remove' | 'change'>()
  const [jobs, setJobs] = useState<string[]>([])
  const may = useMay()
  const which: Which = chosen.size > 0 ? { ids: [...chosen] } : { filter }
  const any = chosen.size > 0 || (filter !== '' && ready)
  const begun = (ids: string[]) => {
    for (const id of ids) jobStarted(id)
    setJobs((before) => [...ids, ...before])
    forget()
  }
  return (
    <section className="many" aria-label={text.many.title}>
      <div className="row">
        <p>{chosen.size > 0 ? text.many.chosen(number(chosen.size)) : any ? text.many.filtered : text.many.none}</p>
        {any && may('bulkUpdateCorpusDocumentMetadata', corpus) && (
          <Button onClick={() => setAsks('change')}>{text.many.change}</Button>
        )}
        {any && may('bulkDeleteCorpusDocuments', corpus) && (
          <Button kind="danger" onClick={() => setAsks('remove')}>
            {text.many.remove}
          </Button>
        )}
        {chosen.size > 0 && (
          <Button kind="quiet" onClick={forget}>
            {text.many.forget}
          </Button>
        )}
      </div>
      {jobs.map((id) => (
        <Running key={id} id={id} ended={ended} />
      ))}
      {asks && <Asks corpus={corpus} which={which} what={asks} close={() => setAsks(undefined)} begun={begun} />}
    </section>
  )
}

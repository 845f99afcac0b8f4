import { type FormEvent, useState } from 'react'
import { Button } from '../parts/Button'
import { useDraft, useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { JobLine } from '../parts/JobLine'
import { jobStarted } from '../parts/jobs'
import { Loading } from '../parts/Loading'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { useSearchParams } from '../parts/searchParams'
import { useMay, useStill } from '../session/caller'
import { text } from '../text/en'
import { AttributeRows } from './AttributeRows'
import { conditionOf, joined } from './condition'
import { type Attribute, type Corpus, type Statistics, useReplaceAttributes, useStatistics } from './corpora'

function Bars({ of, choose }: { of: Statistics; choose: (condition: string) => void }) {
  const most = Math.max(1, ...of.values.map((v) => v.count))
  return (
    <section className="card bars">
      <h2>
        <code>{of.name}</code> <span className="about">{text.attributes.types[of.type]}</span>
      </h2>
      {of.description && <p className="about">{of.description}</p>}
      {of.values.length === 0 && <p className="empty">{text.attributes.noValues}</p>}
      <ul>
        {of.values.map((v) => (
          <li key={String(v.value)}>
            <button
              type="button"
              onClick={() => choose(conditionOf(of.name, of.type, v.value))}
              title={text.attributes.narrow}
            >
              <Name>{String(v.value)}</Name>
              <meter min={0} max={most} value={v.count} aria-hidden="true" />
              <span>{number(v.count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {of.stats && (
        <p className="about">
          {text.attributes.range(number(of.stats.min ?? 0), number(of.stats.max ?? 0), number(of.stats.avg ?? 0))}
        </p>
      )}
    </section>
  )
}

interface FormProps {
  corpus: Corpus
  begun: (job: string) => void
  close: () => void
}

function ReplaceForm({ corpus, begun, close }: FormProps) {
  const [base] = useState<Attribute[]>(corpus.filter_attributes ?? [])
  const [rows, setRows] = useDraft('attributes', base)
  const replace = useReplaceAttributes(corpus.key ?? '')
  const start = (e: FormEvent) => {
    e.preventDefault()
    replace.mutate(rows, { onSuccess: ({ job_id }) => begun(job_id) })
  }
  return (
    <form className="card stack" onSubmit={start}>
      <h2>{text.attributes.change}</h2>
      <p className="about">{text.attributes.changeHint}</p>
      <AttributeRows rows={rows} change={setRows} error={replace.error} />
      {replace.error && <Failed error={replace.error} />}
      <div className="row">
        <Button kind="first" type="submit" busy={replace.isPending}>
          {text.attributes.replace}
        </Button>
        <Button kind="quiet" onClick={close}>
          {text.cancel}
        </Button>
      </div>
    </form>
  )
}

/** The form that replaces the attributes, and the job that does it. */
function Replace({ corpus }: { corpus: Corpus }) {
  const [open, setOpen] = useKept('replacing', false)
  const [job, setJob] = useState('')
  const begun = (id: string) => {
    jobStarted(id)
    setJob(id)
    setOpen(false)
  }
  return (
    <section className="stack">
      {job && <JobLine id={job} />}
      {open ? (
        <ReplaceForm corpus={corpus} begun={begun} close={() => setOpen(false)} />
      ) : (
        <div className="row">
          <Button onClick={() => setOpen(true)}>{text.attributes.change}</Button>
        </div>
      )}
    </section>
  )
}

/** The attributes of a corpus with their values, narrowed by a filter that the address holds. */
export function Attributes({ corpus }: { corpus: Corpus }) {
  const [search, setSearch] = useSearchParams()
  const filter = search.get('filter') ?? ''
  const found = useStatistics(corpus.key ?? '', filter)
  const may = useMay()
  const stats = found.data?.filter_attribute_stats ?? []
  const narrow = (next: string) => setSearch(next ? { filter: next } : {})
  return (
    <div className="stack">
      {useStill(may('replaceFilterAttributes', corpus.key)) && <Replace corpus={corpus} />}
      {filter && (
        <div className="row filter-shown">
          <code>{filter}</code>
          <Button kind="quiet" onClick={() => narrow('')}>
            {text.attributes.all}
          </Button>
        </div>
      )}
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data?.filter_attribute_stats.length === 0 && <p className="empty">{text.attributes.none}</p>}
      <div className="all-bars" key={stats.map((s) => s.name).join()}>
        {stats.map((s) => (
          <Bars key={s.name} of={s} choose={(condition) => narrow(joined(filter, condition))} />
        ))}
      </div>
    </div>
  )
}

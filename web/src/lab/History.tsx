import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../parts/Button'
import { closed } from '../parts/bidi'
import { CorpusField } from '../parts/CorpusField'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { Loading } from '../parts/Loading'
import { decimal, moment, number } from '../parts/locale'
import { useSearchParams } from '../parts/searchParams'
import { text } from '../text/en'
import { type Filters, filters, useHistories } from './history'

const t = text.history

function Narrow({ at, change }: { at: Filters; change: (next: Filters) => void }) {
  const [draft, setDraft] = useState(at)
  const set = (part: Filters) => setDraft({ ...draft, ...part })
  const submit = (e: FormEvent) => {
    e.preventDefault()
    change(draft)
  }
  return (
    <form className="narrow" onSubmit={submit}>
      <CorpusField
        label={t.corpus}
        value={draft.corpus_key ?? ''}
        change={(corpus_key) => set({ corpus_key })}
        any={t.anyCorpus}
      />
      <Field
        label={t.after}
        type="datetime-local"
        value={draft.started_after ?? ''}
        onChange={(e) => set({ started_after: e.target.value })}
      />
      <Field
        label={t.before}
        type="datetime-local"
        value={draft.started_before ?? ''}
        onChange={(e) => set({ started_before: e.target.value })}
      />
      <Field
        label={t.chat}
        value={draft.chat_id ?? ''}
        placeholder="cht_…"
        onChange={(e) => set({ chat_id: e.target.value })}
        spellCheck={false}
      />
      <Field
        label={t.id}
        value={draft.history_id ?? ''}
        placeholder="qry_…"
        onChange={(e) => set({ history_id: e.target.value })}
        spellCheck={false}
      />
      <Button type="submit">{t.filter}</Button>
    </form>
  )
}

/** The queries that were kept, newest first, with the filters in the address. */
export function History() {
  const [search, setSearch] = useSearchParams()
  const at: Filters = Object.fromEntries(filters.map((name) => [name, search.get(name) ?? '']))
  const narrowed = filters.some((name) => at[name])
  const found = useHistories(at)
  const all = found.data?.pages.flatMap((p) => p.queries ?? []) ?? []
  return (
    <div className="lab stack">
      <h1>{t.title}</h1>
      <Narrow
        key={search.toString()}
        at={at}
        change={(next) => setSearch(Object.fromEntries(Object.entries(next).filter(([, v]) => v)))}
      />
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.isSuccess && all.length === 0 && <p className="empty">{narrowed ? t.noMatch : t.none}</p>}
      <ul className="histories">
        {all.map((q) => (
          <li key={q.id} className="card">
            <Link href={`/history/${encodeURIComponent(q.id)}`} className="name" dir="auto">
              {closed(q.query ?? '')}
            </Link>
            <p className="about">
              {q.started_at && <time dateTime={q.started_at}>{moment(q.started_at)}</time>} ·{' '}
              <code>{q.corpus_key}</code> · {t.took(number(q.latency_millis ?? 0))}
              {q.evidence !== undefined ? (
                <> · {t.evidence(decimal(q.evidence, 2))}</>
              ) : (
                q.factual_consistency_score !== undefined && (
                  <> · {t.supports(decimal(q.factual_consistency_score, 2))}</>
                )
              )}
              {q.chat_id && (
                <>
                  {' '}
                  · {t.of.chat} <code>{q.chat_id}</code>
                </>
              )}
            </p>
            {q.generation && (
              <p className="answered" dir="auto">
                {q.generation}
              </p>
            )}
          </li>
        ))}
      </ul>
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} busy={found.isFetchingNextPage}>
          {t.more}
        </Button>
      )}
    </div>
  )
}

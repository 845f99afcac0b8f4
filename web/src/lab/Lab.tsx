import { type FormEvent, useEffect, useLayoutEffect, useRef } from 'react'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { useCorpora } from '../parts/corpusNames'
import { useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { Loading } from '../parts/Loading'
import { useSearchParams } from '../parts/searchParams'
import { text } from '../text/en'
import { type Experiment, read, write } from './address'
import { Calls } from './Calls'
import { Knobs } from './Knobs'
import { Missing } from './Missing'
import { Changes, Results } from './Results'
import { tagsOf, useSearch } from './search'
import { type Settings, searched } from './settings'

const t = text.lab

const fieldsOf = (error: unknown): Record<string, string> => (error instanceof Failure ? error.fields : {})

/** Reports whether every field of a failure stands where it can be changed. */
const standsAtFields = (error: unknown) =>
  error instanceof Failure &&
  Object.keys(error.fields).length > 0 &&
  Object.keys(error.fields).every((f) => f.startsWith('body.search.') && f !== 'body.search.corpora')

/** What the form holds, which the address follows once it is submitted. */
function useDraft(): [Experiment, (next: Experiment) => void, Experiment, (next: Experiment) => boolean] {
  const [search, setSearch] = useSearchParams()
  const address = search.toString()
  const asked = read(search)
  const [draft, setDraft] = useKept('experiment', asked)
  const names = useCorpora().data
  const last = useRef(address)
  useEffect(() => {
    // Back and forward, and links such as "open in the lab", bring other settings.
    if (last.current !== address) setDraft(read(new URLSearchParams(address)))
    last.current = address
  }, [address, setDraft])
  const newest = names?.[0]?.key
  useLayoutEffect(() => {
    if (newest)
      setDraft((d) =>
        d.settings.corpora.length ? d : { ...d, settings: { ...d.settings, corpora: [searched(newest)] } },
      )
  }, [newest, setDraft])
  /** Puts an experiment into the address; false where it is there already. */
  const submit = (next: Experiment) => {
    setDraft(next)
    const to = write(next)
    if (to.toString() === address) return false
    last.current = to.toString()
    setSearch(to)
    return true
  }
  return [draft, setDraft, asked, submit]
}

interface Shown {
  asked: Experiment
  first: ReturnType<typeof useSearch>
  second: ReturnType<typeof useSearch>
  run: (next: Experiment) => void
}

/**
 * What was found, and where the document is that was looked for. Since what is said about the document may need more lines than
 * before, each search has a list of its own below it, which does not move.
 */
function Found({ asked, first, second, run }: Shown) {
  const { query, settings, other, missing } = asked
  if (!first.data || (other && !second.data)) return null
  const ranked = (s: Settings, all = first.data?.search_results) => ({ results: all ?? [], ...tagsOf(s) })
  return (
    <section className="stack" aria-busy={first.isFetching || second.isFetching} aria-label={t.results.title}>
      {missing && (
        <Missing
          id={missing}
          answer={first.data}
          old={first.isPlaceholderData}
          settings={settings}
          run={(next) => run({ ...asked, settings: next })}
          under={other && t.missing.under.first}
        />
      )}
      {missing && other && second.data && (
        <Missing
          id={missing}
          answer={second.data}
          old={second.isPlaceholderData}
          settings={other}
          run={(next) => run({ ...asked, other: next })}
          under={t.missing.under.second}
        />
      )}
      {other ? (
        <Changes
          key={missing && first.dataUpdatedAt + second.dataUpdatedAt}
          query={query}
          first={ranked(settings)}
          second={ranked(other, second.data?.search_results)}
        />
      ) : (
        <div className="stack" key={missing && first.dataUpdatedAt}>
          <h2 className="count">{t.found(first.data.search_results?.length ?? 0)}</h2>
          <Results query={query} found={ranked(settings)} offset={settings.offset ?? 0} />
        </div>
      )}
    </section>
  )
}

/** The lab: a query, its settings, what they find and why. The address holds all of it. */
export function Lab() {
  const [draft, setDraft, asked, submit] = useDraft()
  const first = useSearch(asked.query, asked.settings, asked.missing)
  const second = useSearch(asked.query, asked.other, asked.missing)
  const run = (next: Experiment) => {
    if (submit(next)) return
    void first.refetch()
    if (next.other) void second.refetch()
  }
  const alone = () => {
    const next = { ...draft, other: undefined }
    if (asked.other) run(next)
    else setDraft(next)
  }
  const busy = first.isFetching || second.isFetching
  const count = first.data?.search_results?.length
  useEffect(() => {
    if (busy) announce(t.searching)
    else if (count !== undefined) announce(t.found(count))
  }, [busy, count])
  const errors = [first.error, ...(asked.other ? [second.error] : [])].filter(Boolean)
  const compares = draft.other !== undefined
  const { isPending } = useCorpora()
  if (isPending && draft.settings.corpora.length === 0) return <Loading />
  return (
    <form
      className="lab stack"
      noValidate
      onSubmit={(e: FormEvent) => {
        e.preventDefault()
        run(draft)
      }}
    >
      <h1>{t.title}</h1>
      <div className="question-line">
        <input
          className="input"
          aria-label={t.query}
          placeholder={t.query}
          value={draft.query}
          onChange={(e) => setDraft({ ...draft, query: e.target.value })}
          maxLength={5000}
          dir="auto"
        />
        <Button kind="first" type="submit">
          {t.submit}
        </Button>
        <Button
          aria-pressed={compares}
          onClick={compares ? alone : () => setDraft({ ...draft, other: structuredClone(draft.settings) })}
        >
          {compares ? t.compareEnd : t.compare}
        </Button>
      </div>
      <div className="bench" data-compares={compares}>
        <div className="all-settings">
          <Knobs
            title={compares ? t.first : t.settings}
            settings={draft.settings}
            change={(settings) => setDraft({ ...draft, settings })}
            fields={fieldsOf(first.error)}
          />
          {draft.other && (
            <Knobs
              title={t.second}
              settings={draft.other}
              change={(other) => setDraft({ ...draft, other })}
              fields={fieldsOf(asked.other && second.error)}
            />
          )}
          <Field
            label={t.missing.label}
            hint={t.missing.hint}
            value={draft.missing}
            onChange={(e) => setDraft({ ...draft, missing: e.target.value })}
            spellCheck={false}
            dir="auto"
          />
        </div>
        <div className="found stack">
          {asked.query && asked.settings.corpora.length > 0 && errors.length === 0 && <Calls asked={asked} />}
          {errors.map((error, i) =>
            standsAtFields(error) ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: one for each search
              <p key={i} className="failed" role="alert">
                {t.refused}
              </p>
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: one for each search
              <Failed key={i} error={error} again={() => run(asked)} />
            ),
          )}
          {!asked.query && <p className="empty">{t.start}</p>}
          {first.isLoading && <Loading />}
          {asked.query && errors.length === 0 && <Found asked={asked} first={first} second={second} run={run} />}
        </div>
      </div>
    </form>
  )
}

import { useDeferredValue, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { upload } from '../documents/uploads'
import { Button } from '../parts/Button'
import { useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { day, number } from '../parts/locale'
import { Name } from '../parts/Name'
import { useSearchParams } from '../parts/searchParams'
import { useCaller, useMay } from '../session/caller'
import { text } from '../text/en'
import { type Corpus, sizeOf, useCorpora, useCorpus, useCreateCorpus } from './corpora'
import { NewCorpus } from './NewCorpus'
import { guideFiles } from './sample'
import './corpora.css'

function Row({ corpus }: { corpus: Corpus }) {
  const { documents, parts } = sizeOf(corpus)
  return (
    <li className="card corpus">
      <div>
        <Link href={`/${encodeURIComponent(corpus.key ?? '')}`} className="name">
          <Name>{corpus.name || corpus.key}</Name>
        </Link>{' '}
        <code>{corpus.key}</code>
        {corpus.enabled === false && <span className="tag">{text.corpora.disabled}</span>}
        {corpus.description && (
          <p className="about" dir="auto">
            {corpus.description}
          </p>
        )}
      </div>
      <p className="size">
        {number(documents)} {text.corpora.documents(documents)}, {number(parts)} {text.corpora.parts(parts)}
        <br />
        {corpus.created_at && (
          <time dateTime={corpus.created_at}>
            {text.corpora.created} {day(corpus.created_at)}
          </time>
        )}
      </p>
    </li>
  )
}

function OwnRow({ name }: { name: string }) {
  const found = useCorpus(name)
  if (found.error) return <Failed error={found.error} again={() => void found.refetch()} />
  return found.data ? <Row corpus={found.data} /> : null
}

/** The corpora that roles on single ones open, for whoever may not list all. */
function Own() {
  const { data: caller } = useCaller()
  const keys = Object.values(caller?.api_policy.allowed_operations.getCorpus?.allowed_resources ?? {}).flat()
  return (
    <div className="stack">
      <h1>{text.corpora.title}</h1>
      <ul className="corpora">
        {keys.slice(0, 100).map((key) => (
          <OwnRow key={key} name={key} />
        ))}
      </ul>
    </div>
  )
}

/** Fills a corpus with the guide, for whoever has no documents at hand. */
function Sample() {
  const [, go] = useLocation()
  const create = useCreateCorpus()
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const start = async () => {
    setBusy(true)
    try {
      const files = await guideFiles()
      const made = await create.mutateAsync({ key: text.first.sampleKey, name: text.first.sampleName })
      upload(made.key ?? '', files)
      go(`/${made.key}`)
    } catch (failed) {
      setError(failed)
      setBusy(false)
    }
  }
  return (
    <div className="stack">
      <p className="row">
        {text.first.or}
        <Button onClick={() => void start()} busy={busy}>
          {text.first.sample}
        </Button>
      </p>
      {error !== undefined && <Failed error={error} />}
    </div>
  )
}

/** The corpora of the account, filtered by a text that the address holds. */
export default function Corpora() {
  const [search, setSearch] = useSearchParams()
  const filter = search.get('filter') ?? ''
  const found = useCorpora(useDeferredValue(filter))
  const [making, setMaking] = useKept('making', false)
  const may = useMay()
  const { data: caller } = useCaller()
  const all = found.data?.pages.flatMap((p) => p.corpora) ?? []
  const told = useRef(false) // whether there are corpora, which decides about the page
  told.current ||= !found.isPending
  if (caller && !may('listCorpora') && may('getCorpus')) return <Own />
  if (!told.current) return <Loading />
  if (found.isSuccess && all.length === 0 && !filter && may('createCorpus'))
    return (
      <div className="stack first-run">
        <h1>{text.first.title}</h1>
        <p>{text.first.why}</p>
        <NewCorpus />
        <Sample />
      </div>
    )
  return (
    <div className="stack">
      <div className="row">
        <h1>{text.corpora.title}</h1>
        <input
          className="input filter"
          type="search"
          aria-label={text.corpora.filter}
          placeholder={text.corpora.filter}
          value={filter}
          onChange={(e) => setSearch(e.target.value ? { filter: e.target.value } : {}, { replace: true })}
        />
        {!making && may('createCorpus') && (
          <Button kind="first" onClick={() => setMaking(true)}>
            {text.corpora.create}
          </Button>
        )}
      </div>
      {making && <NewCorpus cancel={() => setMaking(false)} />}
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.isSuccess && all.length === 0 && (
        <p className="empty">{filter ? text.corpora.noMatch : text.corpora.none}</p>
      )}
      <ul className="corpora">
        {all.map((c) => (
          <Row key={c.id ?? c.key} corpus={c} />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} busy={found.isFetchingNextPage}>
          {text.corpora.more}
        </Button>
      )}
    </div>
  )
}

import { useCallback, useMemo, useState } from 'react'
import { type Corpus, sizeOf } from '../corpora/corpora'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { useSearchParams } from '../parts/searchParams'
import { useMay, useStill } from '../session/caller'
import { text } from '../text/en'
import { cut, keysOf } from './cells'
import { Drop } from './Drop'
import { useDocuments, useReread } from './documents'
import { complaint, Filter } from './Filter'
import { Many } from './Many'
import { Rows } from './Rows'
import './documents.css'

/** How many columns a list begins with, besides id and title. */
const few = 3

function Columns({ all, shown, change }: { all: string[]; shown: string[]; change: (columns: string[]) => void }) {
  const toggle = (key: string) => change(shown.includes(key) ? shown.filter((k) => k !== key) : [...shown, key])
  return (
    <details className="columns">
      <summary>{text.documents.columns}</summary>
      <fieldset className="card rows">
        <legend className="hidden-text">{text.documents.columns}</legend>
        {all.length === 0 && <p className="about">{text.documents.noColumns}</p>}
        {all.slice(0, 100).map((key) => (
          <label key={key} className="check">
            <input type="checkbox" checked={shown.includes(key)} onChange={() => toggle(key)} />
            <Name>{cut(key, 60)}</Name>
          </label>
        ))}
      </fieldset>
    </details>
  )
}

function count(n: number, more: boolean): string {
  return more ? text.documents.soFar(number(n)) : `${number(n)} ${text.corpora.documents(n)}`
}

/** The documents of a corpus. The address holds filter and columns. */
export function Documents({ corpus }: { corpus: Corpus }) {
  const key = corpus.key ?? ''
  const [search, setSearch] = useSearchParams()
  const filter = search.get('filter') ?? ''
  const found = useDocuments(key, filter)
  const { fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError } = found
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [adding, setAdding] = useState(false)
  const reread = useReread(key)
  const may = useMay()
  const documents = useMemo(() => found.data?.pages.flatMap((p) => p.documents ?? []) ?? [], [found.data])
  const declared = (corpus.filter_attributes ?? []).filter((a) => a.level !== 'part').map((a) => a.name)
  const known = [...new Set([...declared, ...keysOf(documents.slice(0, 1000))])].filter((k) => k !== 'title')
  const columns = search.has('column') ? search.getAll('column').filter(Boolean) : known.slice(0, few)
  const changes = may('bulkDeleteCorpusDocuments', key) || may('bulkUpdateCorpusDocumentMetadata', key)
  const empty = sizeOf(corpus).documents === 0 && documents.length === 0

  const address = (change: (s: URLSearchParams) => void) => {
    const next = new URLSearchParams(search)
    change(next)
    setSearch(next)
  }
  const showColumns = (keys: string[]) =>
    address((s) => {
      s.delete('column')
      for (const k of keys.length ? keys : ['']) s.append('column', k)
    })
  const readMore = useCallback(() => {
    if (!isFetchingNextPage && !isFetchNextPageError) void fetchNextPage()
  }, [fetchNextPage, isFetchingNextPage, isFetchNextPageError])
  const choose = useCallback((id: string, on: boolean) => {
    setChosen((before) => {
      const next = new Set(before)
      if (on) next.add(id)
      else next.delete(id)
      return next
    })
  }, [])
  const adds = useStill(may('uploadFile', key) && corpus.enabled !== false)

  return (
    <div className="stack documents">
      {adds && (empty || adding) && <Drop corpus={key} />}
      {empty && !filter && found.isSuccess ? (
        <p className="empty">{text.documents.none}</p>
      ) : (
        <>
          <Filter
            corpus={key}
            value={filter}
            error={found.error}
            change={(next) => {
              setChosen(new Set())
              address((s) => (next ? s.set('filter', next) : s.delete('filter')))
            }}
          />
          <div className="row">
            <p className="about" role="status">
              {found.isSuccess &&
                count(!filter && hasNextPage ? sizeOf(corpus).documents : documents.length, !!filter && hasNextPage)}
            </p>
            <Columns all={known} shown={columns} change={showColumns} />
            {adds && !empty && !adding && <Button onClick={() => setAdding(true)}>{text.uploads.title}</Button>}
          </div>
          {changes && (
            <Many
              ready={!found.error}
              corpus={key}
              filter={filter}
              chosen={chosen}
              forget={() => setChosen(new Set())}
              ended={reread}
            />
          )}
          {found.isPending && <Loading />}
          {found.isSuccess && documents.length === 0 && <p className="empty">{text.documents.noMatch}</p>}
          {documents.length > 0 && (
            <Rows
              key={`${key} ${filter}`}
              name={`${key} ${filter}`}
              documents={documents}
              total={hasNextPage ? undefined : documents.length}
              columns={columns}
              more={hasNextPage}
              readMore={readMore}
              chosen={chosen}
              choose={changes ? choose : undefined}
            />
          )}
          {found.error && !complaint(found.error) && (
            <Failed error={found.error} again={() => void (documents.length ? fetchNextPage() : found.refetch())} />
          )}
        </>
      )}
    </div>
  )
}

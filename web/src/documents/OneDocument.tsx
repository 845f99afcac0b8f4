import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { leave, useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { Stale } from '../parts/Stale'
import { useSearchParams } from '../parts/searchParams'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { idIn } from './address'
import { Body } from './Body'
import { cut, titleOf } from './cells'
import { type Document, deleteDocument, documentKey, type Metadata, useDocument, useReread } from './documents'
import { MetadataForm } from './MetadataForm'
import { Pairs } from './Pairs'
import { Summary } from './Summary'
import './document.css'

type Open = 'metadata' | 'summary' | 'delete'

function Found({ corpus, document: d }: { corpus: string; document: Document }) {
  const queries = useQueryClient()
  const [search, setSearch] = useSearchParams()
  const [open, setOpen] = useKept<Open | undefined>('open', undefined)
  const [, go] = useLocation()
  const may = useMay()
  const reread = useReread(corpus)
  const edits = useRef<HTMLButtonElement>(null)
  const chunks = search.has('parts')
  const title = titleOf(d.metadata)
  const saved = (metadata: Metadata) => {
    queries.setQueryData(documentKey(corpus, d.id), (old: Document | undefined) => old && { ...old, metadata })
    reread()
  }
  const remove = async () => {
    await deleteDocument(corpus, d.id)
    announce(text.document.removed)
    reread()
    go('/documents')
    queries.removeQueries({ queryKey: documentKey(corpus, d.id) })
  }
  const closeForm = () => {
    setOpen(undefined)
    edits.current?.focus()
  }
  return (
    <article className="document">
      <header>
        <h2 dir="auto">{cut(title || d.id, 500)}</h2>
        <p className="about">
          <code>
            <Name>{d.id}</Name>
          </code>{' '}
          · {number(d.parts?.length ?? 0)} {text.corpora.parts(d.parts?.length ?? 0)}
          {d.storage_usage?.bytes_used !== undefined && ` · ${text.document.bytes(number(d.storage_usage.bytes_used))}`}
        </p>
      </header>
      <div className="row">
        {may('updateCorpusDocument', corpus) && (
          <Button ref={edits} onClick={() => setOpen('metadata')} aria-expanded={open === 'metadata'}>
            {text.metadata.edit}
          </Button>
        )}
        {may('summarizeCorpusDocument', corpus) && (
          <Button onClick={() => leave(() => setOpen('summary'))} aria-expanded={open === 'summary'}>
            {text.summary.title}
          </Button>
        )}
        {may('deleteCorpusDocument', corpus) && (
          <Button kind="danger" onClick={() => leave(() => setOpen('delete'))}>
            {text.document.remove}
          </Button>
        )}
        <label className="check">
          <input
            type="checkbox"
            checked={chunks}
            onChange={(e) => setSearch(e.target.checked ? 'parts' : '', { replace: true })}
          />
          {text.document.chunks}
        </label>
      </div>
      {open === 'metadata' && (
        <MetadataForm corpus={corpus} id={d.id} metadata={d.metadata ?? {}} saved={saved} close={closeForm} />
      )}
      {open === 'summary' && <Summary corpus={corpus} id={d.id} />}
      {open === 'delete' && (
        <Confirm
          title={text.document.remove}
          what={text.document.removeWhat(cut(title || d.id, 100))}
          act={text.document.remove}
          run={remove}
          close={() => setOpen(undefined)}
        />
      )}
      <div className="document-columns">
        <aside aria-label={text.metadata.title} className="card">
          <h3>{text.metadata.title}</h3>
          <Pairs metadata={d.metadata ?? {}} />
        </aside>
        <Body key={d.id} corpus={corpus} document={d} chunks={chunks} />
      </div>
    </article>
  )
}

/** One document of a corpus, which the path of the page names. */
export function OneDocument({ corpus }: { corpus: string }) {
  useLocation() // read anew where the address changes
  const id = idIn(location.pathname)
  const found = useDocument(corpus, id)
  const missing = found.error instanceof Failure && found.error.status === 404
  useEffect(() => void scrollTo(0, 0), [])
  return (
    <div className="stack">
      <p>
        <Link href="/documents">{text.document.back}</Link>
      </p>
      {found.isPending && <Loading />}
      {found.data && <Stale error={found.error} gone={text.document.gone} />}
      {missing && !found.data && <p className="empty">{text.document.missing}</p>}
      {found.error && !missing && !found.data && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.data && <Found key={id} corpus={corpus} document={found.data} />}
    </div>
  )
}

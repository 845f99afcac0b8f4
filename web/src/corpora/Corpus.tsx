import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { Ask } from '../answers/Ask'
import { Failure } from '../api/failure'
import { Drop } from '../documents/Drop'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { number } from '../parts/locale'
import { text } from '../text/en'
import { sizeOf, useCorpus } from './corpora'
import './corpora.css'

/** One corpus: what it holds, a question to it, and a place to add documents. An empty one begins with the documents. */
export default function Corpus({ name }: { name: string }) {
  const found = useCorpus(name)
  const queries = useQueryClient()
  const added = useCallback(() => void queries.invalidateQueries({ queryKey: ['corpora'] }), [queries])
  if (found.isPending) return <Loading />
  if (found.error) {
    const missing = found.error instanceof Failure && found.error.status === 404
    return missing ? (
      <p className="empty">{text.corpora.missing}</p>
    ) : (
      <Failed error={found.error} again={() => void found.refetch()} />
    )
  }
  const corpus = found.data
  const { documents, parts } = sizeOf(corpus)
  const drop = <Drop corpus={name} added={added} />
  return (
    <div className="stack">
      <header>
        <h1>{corpus.name || corpus.key}</h1>
        <p className="about">
          <code>{corpus.key}</code> · {number(documents)} {text.corpora.documents(documents)}, {number(parts)}{' '}
          {text.corpora.parts(parts)}
        </p>
        {corpus.description && <p>{corpus.description}</p>}
      </header>
      {documents === 0 && drop}
      {documents === 0 ? <p className="empty">{text.ask.empty}</p> : <Ask corpus={name} />}
      {documents > 0 && drop}
    </div>
  )
}

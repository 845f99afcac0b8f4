import { useState } from 'react'
import { Route, Switch } from 'wouter'
import { Drop } from '../documents/Drop'
import Documents from '../documents/pages'
import { Loading } from '../parts/Loading'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { Places } from '../parts/Places'
import { Stale } from '../parts/Stale'
import { Unread } from '../parts/Unread'
import { useMay, useStill } from '../session/caller'
import { Nowhere } from '../shell/Nowhere'
import { text } from '../text/en'
import { Ask } from './Ask'
import { Attributes } from './Attributes'
import { type Corpus as Found, sizeOf, useCorpus } from './corpora'
import { Settings } from './Settings'
import './corpora.css'

/** A question to a corpus and a place to add documents. A corpus that was empty when it was opened keeps the documents first. */
function Start({ corpus }: { corpus: Found }) {
  const key = corpus.key ?? ''
  const may = useMay()
  const empty = sizeOf(corpus).documents === 0
  const [began] = useState(empty)
  const asks = useStill(may('query', key))
  const drop = useStill(may('uploadFile', key) && corpus.enabled !== false) && <Drop corpus={key} />
  return (
    <div className="stack">
      {began && drop}
      {empty && <p className="empty">{text.ask.empty}</p>}
      {!empty && asks && <Ask corpus={key} below={!began && drop} />}
    </div>
  )
}

function Head({ corpus }: { corpus: Found }) {
  const { documents, parts } = sizeOf(corpus)
  return (
    <header>
      <h1>
        <Name>{corpus.name || corpus.key}</Name>
      </h1>
      <p className="about">
        <code>{corpus.key}</code> · {number(documents)} {text.corpora.documents(documents)}, {number(parts)}{' '}
        {text.corpora.parts(parts)}
        {corpus.enabled === false && <span className="tag">{text.corpora.disabled}</span>}
      </p>
      {corpus.description && <p dir="auto">{corpus.description}</p>}
    </header>
  )
}

/** The pages of one corpus, whose address the router has as its base. */
export default function Corpus({ name }: { name: string }) {
  const found = useCorpus(name)
  if (found.isPending) return <Loading />
  const corpus = found.data
  // What was read before stays while it can't be read again: somebody may be typing into it.
  if (!corpus) return <Unread error={found.error} missing={text.corpora.missing} again={found.refetch} />
  return (
    <div className="stack">
      <Stale error={found.error} gone={text.corpora.gone} />
      <Head corpus={corpus} />
      <Places
        label={text.corpus.places}
        all={[
          ['/', text.corpus.ask],
          ['/documents', text.corpus.documents],
          ['/attributes', text.corpus.attributes],
          ['/settings', text.corpus.settings],
        ]}
      />
      <Switch>
        <Route path="/">
          <Start key={corpus.key} corpus={corpus} />
        </Route>
        <Route path="/documents/*?">
          <Documents corpus={corpus} />
        </Route>
        <Route path="/attributes">
          <Attributes corpus={corpus} />
        </Route>
        <Route path="/settings">
          <Settings corpus={corpus} />
        </Route>
        <Route>
          <Nowhere />
        </Route>
      </Switch>
    </div>
  )
}

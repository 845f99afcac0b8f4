import { Route, Switch } from 'wouter'
import type { Corpus } from '../corpora/corpora'
import { Documents } from './Documents'
import { OneDocument } from './OneDocument'

/** The pages of the documents of a corpus: the list, and each of them. The base of the router is that of the corpus. */
export default function Pages({ corpus }: { corpus: Corpus }) {
  return (
    <Switch>
      <Route path="/documents">
        <Documents corpus={corpus} />
      </Route>
      <Route>
        <OneDocument corpus={corpus.key ?? ''} />
      </Route>
    </Switch>
  )
}

import { Route, Switch } from 'wouter'
import { Nowhere } from '../shell/Nowhere'
import Corpora from './Corpora'
import Corpus from './Corpus'

/** The pages below /corpora. */
export default function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Corpora />
      </Route>
      <Route path="/:key" nest>
        {({ key }) => <Corpus key={key} name={decodeURIComponent(key)} />}
      </Route>
      <Route>
        <Nowhere />
      </Route>
    </Switch>
  )
}

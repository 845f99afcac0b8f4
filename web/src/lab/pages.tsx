import { Route, Switch } from 'wouter'
import { Places } from '../parts/Places'
import { useMay } from '../session/caller'
import { Nowhere } from '../shell/Nowhere'
import { text } from '../text/en'
import { History } from './History'
import { Kept } from './Kept'
import { Lab } from './Lab'
import './lab.css'

/** The pages below /lab. */
export default function Pages() {
  const may = useMay()
  return (
    <div className="stack">
      {may('getQueryHistories') && (
        <Places
          label={text.lab.places}
          all={[
            ['/', text.lab.search],
            ['/history', text.lab.history],
          ]}
        />
      )}
      <Switch>
        <Route path="/">
          <Lab />
        </Route>
        <Route path="/history">
          <History />
        </Route>
        <Route path="/history/:id">{({ id }) => <Kept key={id} id={decodeURIComponent(id)} />}</Route>
        <Route>
          <Nowhere />
        </Route>
      </Switch>
    </div>
  )
}

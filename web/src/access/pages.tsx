import { Redirect, Route, Switch } from 'wouter'
import { Places } from '../parts/Places'
import { useCaller, useMay } from '../session/caller'
import { Nowhere } from '../shell/Nowhere'
import { text } from '../text/en'
import { Audit } from './Audit'
import { Client } from './Client'
import { Clients } from './Clients'
import { Key } from './Key'
import { Keys } from './Keys'
import { People } from './People'
import { Person } from './Person'
import './access.css'

/** Each page with the operation without which it has nothing to show. */
const places = [
  ['/keys', text.access.keys.title, 'listApiKeys'],
  ['/people', text.access.people.title, 'listUsers'],
  ['/clients', text.access.clients.title, 'listAppClient'],
  ['/audit', text.access.audit.title, 'listAuditEvents'],
] as const

/**
 * Returns the name that ends the address. It is read from the address itself, since the router decodes a part of it, and
 * names may hold a % of their own.
 */
function named(): string {
  const part = /([^/]*)\/*$/.exec(location.pathname)?.[1] ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The pages below /access. An address that the caller may not see is still asked for: the service says who may. */
export default function Pages() {
  const may = useMay()
  const { data: caller } = useCaller()
  const open = places.filter(([, , operation]) => may(operation))
  return (
    <div className="stack access">
      <Places label={text.access.places} all={open.map(([href, name]) => [href, name] as const)} />
      <Switch>
        <Route path="/">{caller && <Redirect to={(open[0] ?? places[0])[0]} replace />}</Route>
        <Route path="/keys">
          <Keys />
        </Route>
        <Route path="/keys/:id">{() => <Key key={named()} id={named()} />}</Route>
        <Route path="/people">
          <People />
        </Route>
        <Route path="/people/:name">{() => <Person key={named()} name={named()} />}</Route>
        <Route path="/clients">
          <Clients />
        </Route>
        <Route path="/clients/:id">{() => <Client key={named()} id={named()} />}</Route>
        <Route path="/audit">
          <Audit />
        </Route>
        <Route>
          <Nowhere />
        </Route>
      </Switch>
    </div>
  )
}

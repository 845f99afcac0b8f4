import { Route, Switch } from 'wouter'
import { Nowhere } from '../shell/Nowhere'
import { Chats } from './Chats'
import { Conversation } from './Conversation'

/** The pages below /chats. */
export default function Pages() {
  return (
    <Switch>
      <Route path="/">
        <Chats />
      </Route>
      <Route path="/new">
        <Conversation key="new" chat="" />
      </Route>
      <Route path="/:chat">{({ chat }) => <Conversation key={chat} chat={decodeURIComponent(chat)} />}</Route>
      <Route>
        <Nowhere />
      </Route>
    </Switch>
  )
}

import { useState } from 'react'
import { call, path } from '../api/call'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { differing } from '../parts/change'
import { useDraft } from '../parts/draft'
import { moment } from '../parts/locale'
import { Name } from '../parts/Name'
import { useMay, useStill } from '../session/caller'
import { text } from '../text/en'
import { at, type PasswordLink, type User, useOne, useUpdate } from './access'
import { Form } from './Form'
import { metadataOf } from './metadata'
import { One, Shut } from './One'
import { Opens } from './Opens'
import { bodyOf, PersonFields, personPlaces, typedOf } from './PersonFields'
import { shownLink } from './passwordLink'
import { Held } from './Rights'
import { Secret, type Shown } from './Secret'

const t = text.access.people

function Change({ user, name }: { user: User; name: string }) {
  const [base, setBase] = useState(() => typedOf(user))
  const [typed, setTyped] = useDraft('person', base)
  const update = useUpdate<User>(at.person(name))
  const save = () => {
    if (metadataOf(typed.metadata).bad) return
    update.mutate(differing(bodyOf(base), bodyOf(typed)), {
      onSuccess: () => {
        setBase(typed)
        announce(text.settings.saved)
      },
    })
  }
  return (
    <Form
      act={text.settings.save}
      busy={update.isPending}
      error={update.error}
      places={personPlaces}
      submit={save}
      note={update.isSuccess && <span className="good">{text.settings.saved}</span>}
    >
      <PersonFields typed={typed} change={setTyped} error={update.error} />
    </Form>
  )
}

/** The button that makes a new link for a password, which voids the present password and sign-ins. */
function Reset({ name }: { name: string }) {
  const [asks, setAsks] = useState(false)
  const [link, setLink] = useState<Shown>()
  const reset = async () => {
    const made = await call<PasswordLink>(path`/v2/users/${name}/reset_password`, { method: 'POST' })
    announce(t.wasReset)
    setLink(shownLink(name, made))
  }
  return (
    <>
      <Button onClick={() => setAsks(true)}>{t.reset}</Button>
      {asks && <Confirm title={t.reset} what={t.resetWhat} act={t.reset} run={reset} close={() => setAsks(false)} />}
      {link && <Secret shown={link} close={() => setLink(undefined)} />}
    </>
  )
}

/** One person: what they may do, their roles and groups, and how to shut them out. */
export function Person({ name }: { name: string }) {
  const may = useMay()
  const changes = useStill(may('updateUser'))
  const found = useOne<User>(at.person(name))
  return (
    <One found={found} back={['/people', t.title]} missing={t.missing}>
      {(user) => (
        <>
          <div className="row">
            <h1>
              <Name>{user.username ?? user.email}</Name>
            </h1>
            {user.enabled === false && <span className="tag">{text.access.disabled}</span>}
          </div>
          <dl className="facts card">
            <dt>{t.email}</dt>
            <dd>
              <Name>{user.email}</Name>
            </dd>
            {user.created_at && (
              <>
                <dt>{t.created}</dt>
                <dd>{moment(user.created_at)}</dd>
              </>
            )}
            <dt>{text.access.roles.title}</dt>
            <dd>
              <Held of={user} />
            </dd>
          </dl>
          <Opens policy={user.api_policy} closed={user.enabled === false} />
          {changes && <Change user={user} name={name} />}
          <Shut
            address={at.person(name)}
            name={user.username ?? user.email}
            enabled={user.enabled !== false}
            words={t.shut}
            may={{ update: may('updateUser'), remove: may('deleteUser') }}
            typed={user.username ?? user.email}
            list="/people"
          >
            {may('resetUserPassword') && <Reset name={name} />}
          </Shut>
        </>
      )}
    </One>
  )
}

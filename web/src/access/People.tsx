import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../api/call'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { useDraft, useKept } from '../parts/draft'
import { Field } from '../parts/Field'
import { day } from '../parts/locale'
import { Name } from '../parts/Name'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { type NewPerson as Made, type User, usePeople, useRefresh } from './access'
import { useAct } from './act'
import { Form, fieldsOf } from './Form'
import { useFilters } from './filters'
import { List, OfCorpus } from './List'
import { metadataOf } from './metadata'
import { bodyOf, PersonFields, personPlaces, typedOf } from './PersonFields'
import { shownLink } from './passwordLink'
import { Held } from './Rights'
import { Secret } from './Secret'

const t = text.access.people

const nothing = { email: '', username: '', ...typedOf() }

function NewPerson({ made, cancel }: { made: (person: Made) => void; cancel: () => void }) {
  const [typed, setTyped, saved] = useDraft('person', nothing)
  const { email, username } = typed
  const { busy, error, act } = useAct()
  const fields = fieldsOf(error)
  const create = async () => {
    if (metadataOf(typed.metadata).bad) return
    const body = { email, username: username || undefined, ...bodyOf(typed) }
    const person = await act(() => call<Made>('/v2/users', { method: 'POST', body }))
    if (!person) return
    saved()
    made(person)
  }
  return (
    <Form
      act={t.make}
      busy={busy}
      error={error}
      places={['body.email', 'body.username', ...personPlaces]}
      submit={() => void create()}
      cancel={cancel}
    >
      <Field
        label={t.email}
        type="email"
        value={email}
        onChange={(e) => setTyped({ ...typed, email: e.target.value })}
        bad={fields['body.email']}
        autoComplete="off"
        required
        autoFocus
      />
      <Field
        label={t.username}
        hint={t.usernameHint}
        value={username}
        onChange={(e) => setTyped({ ...typed, username: e.target.value })}
        bad={fields['body.username']}
        autoComplete="off"
        spellCheck={false}
      />
      <PersonFields typed={typed} change={(next) => setTyped({ ...typed, ...next })} error={error} />
    </Form>
  )
}

function Row({ user }: { user: User }) {
  const name = user.username ?? user.email
  return (
    <li className="card entry">
      <div>
        <Link href={`/people/${encodeURIComponent(name)}`} className="name">
          <Name>{name}</Name>
        </Link>
        {user.enabled === false && <span className="tag">{text.access.disabled}</span>}
        <p className="about">
          <Held of={user} />
        </p>
        {(user.groups ?? []).length > 0 && (
          <p className="about">
            {t.groups}: <Name>{user.groups?.join(', ')}</Name>
          </p>
        )}
      </div>
      <p className="about side">
        {user.email !== name && (
          <>
            <Name>{user.email}</Name>
            <br />
          </>
        )}
        {user.created_at && (
          <time dateTime={user.created_at}>
            {text.corpora.created} {day(user.created_at)}
          </time>
        )}
      </p>
    </li>
  )
}

/** The people who may use the account. */
export function People() {
  const [{ corpus }, change] = useFilters(['corpus'])
  const found = usePeople({ corpus_key: corpus || undefined })
  const [making, setMaking] = useKept('making', false)
  const [made, setMade] = useState<Made>()
  const [, go] = useLocation()
  const refresh = useRefresh()
  const may = useMay()
  const all = found.data?.pages.flatMap((p) => p.users) ?? []
  const link = made && shownLink(made.username ?? made.email, made)
  const visit = (person: Made) => {
    setMade(undefined)
    setMaking(false)
    go(`/people/${encodeURIComponent(person.username ?? person.email)}`)
  }
  return (
    <div className="stack">
      <div className="row spread">
        <h1>{t.title}</h1>
        {!making && may('createUser') && (
          <Button kind="first" onClick={() => setMaking(true)}>
            {t.create}
          </Button>
        )}
      </div>
      {making && (
        <NewPerson
          made={(person) => {
            announce(t.made)
            void refresh()
            if (person.one_time_code) setMade(person)
            else visit(person)
          }}
          cancel={() => setMaking(false)}
        />
      )}
      {link && <Secret shown={link} close={() => visit(made)} />}
      <div className="row filters">
        <OfCorpus value={corpus} change={(next) => change({ corpus: next })} />
      </div>
      <List found={found} count={all.length} none={t.noMatch}>
        {all.map((u) => (
          <Row key={u.id} user={u} />
        ))}
      </List>
    </div>
  )
}

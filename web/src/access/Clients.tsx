import { useDeferredValue, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../api/call'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { useDraft, useKept } from '../parts/draft'
import { Field } from '../parts/Field'
import { Name } from '../parts/Name'
import { holding } from '../parts/pattern'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { type AppClient, rightsOf, useClients, useRefresh } from './access'
import { useAct } from './act'
import { Form, fieldsOf } from './Form'
import { useFilters } from './filters'
import { List } from './List'
import { Held, RightsFields } from './Rights'
import { Secret } from './Secret'

const t = text.access.clients

const nothing = { name: '', description: '', rights: rightsOf({}) }

function NewClient({ made, cancel }: { made: (client: AppClient) => void; cancel: () => void }) {
  const [typed, setTyped, saved] = useDraft('client', nothing)
  const { name, description, rights } = typed
  const { busy, error, act } = useAct()
  const fields = fieldsOf(error)
  const create = async () => {
    const body = { type: 'client_credentials', name, description, ...rights }
    const client = await act(() => call<AppClient>('/v2/app_clients', { method: 'POST', body }))
    if (!client) return
    saved()
    made(client)
  }
  return (
    <Form
      act={t.make}
      busy={busy}
      error={error}
      places={['body.name', 'body.description']}
      submit={() => void create()}
      cancel={cancel}
    >
      <Field
        label={t.name}
        value={name}
        onChange={(e) => setTyped({ ...typed, name: e.target.value })}
        bad={fields['body.name']}
        autoComplete="off"
        required
        autoFocus
      />
      <Field
        label={t.description}
        value={description}
        onChange={(e) => setTyped({ ...typed, description: e.target.value })}
        bad={fields['body.description']}
      />
      <RightsFields
        rights={rights}
        change={(part) => setTyped({ ...typed, rights: { ...rights, ...part } })}
        error={error}
      />
    </Form>
  )
}

/** The programs that fetch access tokens. */
export function Clients() {
  const [{ filter }, change] = useFilters(['filter'])
  const later = useDeferredValue(filter)
  const found = useClients({ filter: holding(later) })
  const [making, setMaking] = useKept('making', false)
  const [made, setMade] = useState<AppClient>()
  const [, go] = useLocation()
  const refresh = useRefresh()
  const may = useMay()
  const all = found.data?.pages.flatMap((p) => p.app_clients) ?? []
  return (
    <div className="stack">
      <div className="row spread">
        <h1>{t.title}</h1>
        {!making && may('createAppClient') && (
          <Button kind="first" onClick={() => setMaking(true)}>
            {t.create}
          </Button>
        )}
      </div>
      <p className="about">{t.what}</p>
      {making && (
        <NewClient
          made={(client) => {
            setMade(client)
            announce(t.made)
            void refresh()
          }}
          cancel={() => setMaking(false)}
        />
      )}
      {made && (
        <Secret
          shown={{
            title: t.secretTitle,
            why: t.secretWhy,
            values: [
              [t.clientId, made.client_id],
              [t.secret, made.client_secret],
            ],
          }}
          close={() => {
            setMade(undefined)
            setMaking(false)
            go(`/clients/${encodeURIComponent(made.id)}`)
          }}
        />
      )}
      <div className="row filters">
        <Field label={t.filter} type="search" value={filter} onChange={(e) => change({ filter: e.target.value })} />
      </div>
      <List found={found} count={all.length} none={filter ? t.noMatch : t.empty}>
        {all.map((c) => (
          <li key={c.id} className="card entry">
            <div>
              <Link href={`/clients/${encodeURIComponent(c.id)}`} className="name">
                <Name>{c.name}</Name>
              </Link>
              {c.enabled === false && <span className="tag">{text.access.disabled}</span>}
              {c.description && (
                <p className="about" dir="auto">
                  {c.description}
                </p>
              )}
              <p className="about">
                <Held of={c} />
              </p>
            </div>
            <p className="about side">
              <code>{c.client_id}</code>
            </p>
          </li>
        ))}
      </List>
    </div>
  )
}

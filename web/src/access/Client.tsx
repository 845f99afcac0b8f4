import { useState } from 'react'
import { announce } from '../parts/announce'
import { differing } from '../parts/change'
import { useDraft } from '../parts/draft'
import { Field } from '../parts/Field'
import { Name } from '../parts/Name'
import { useMay, useStill } from '../session/caller'
import { text } from '../text/en'
import { type AppClient, at, rightsOf, useOne, useUpdate } from './access'
import { Form, fieldsOf } from './Form'
import { One, Shut } from './One'
import { Opens } from './Opens'
import { Held, RightsFields } from './Rights'

const t = text.access.clients

function Change({ client }: { client: AppClient }) {
  const [base, setBase] = useState(() => ({ description: client.description ?? '', ...rightsOf(client) }))
  const [typed, setTyped] = useDraft('client', base)
  const update = useUpdate<AppClient>(at.client(client.id))
  return (
    <Form
      act={text.settings.save}
      busy={update.isPending}
      error={update.error}
      places={['body.description']}
      submit={() =>
        update.mutate(differing(base, typed), {
          onSuccess: () => {
            setBase(typed)
            announce(text.settings.saved)
          },
        })
      }
      note={update.isSuccess && <span className="good">{text.settings.saved}</span>}
    >
      <Field
        label={t.description}
        value={typed.description}
        onChange={(e) => setTyped({ ...typed, description: e.target.value })}
        bad={fieldsOf(update.error)['body.description']}
      />
      <RightsFields rights={rightsOf(typed)} change={(part) => setTyped({ ...typed, ...part })} error={update.error} />
    </Form>
  )
}

/** One application client: what it opens, its roles, and how to shut it. */
export function Client({ id }: { id: string }) {
  const may = useMay()
  const changes = useStill(may('updateAppClient'))
  const found = useOne<AppClient>(at.client(id))
  return (
    <One found={found} back={['/clients', t.title]} missing={t.missing}>
      {(client) => (
        <>
          <div className="row">
            <h1>
              <Name>{client.name}</Name>
            </h1>
            {client.enabled === false && <span className="tag">{text.access.disabled}</span>}
          </div>
          <dl className="facts card">
            <dt>{t.clientId}</dt>
            <dd>
              <code>{client.client_id}</code>
            </dd>
            <dt>{t.secret}</dt>
            <dd>
              <code>{client.client_secret}</code>
            </dd>
            <dt>{text.access.roles.title}</dt>
            <dd>
              <Held of={client} />
            </dd>
          </dl>
          <Opens policy={client.api_policy} closed={client.enabled === false} />
          {changes && <Change client={client} />}
          <Shut
            address={at.client(id)}
            name={client.name}
            enabled={client.enabled !== false}
            words={t.shut}
            may={{ update: may('updateAppClient'), remove: may('deleteAppClient') }}
            list="/clients"
          />
        </>
      )}
    </One>
  )
}

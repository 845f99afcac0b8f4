import { Name } from '../parts/Name'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { type ApiKey, at, useOne } from './access'
import { One, Shut } from './One'
import { Opens } from './Opens'
import { Held } from './Rights'

const t = text.access.keys

/** One key: what it opens, and how to shut it. */
export function Key({ id }: { id: string }) {
  const may = useMay()
  const found = useOne<ApiKey>(at.key(id))
  return (
    <One found={found} back={['/keys', t.title]} missing={t.missing}>
      {(key) => (
        <>
          <div className="row">
            <h1>
              <Name>{key.name}</Name>
            </h1>
            {key.enabled === false && <span className="tag">{text.access.disabled}</span>}
          </div>
          <dl className="facts card">
            <dt>{t.secret}</dt>
            <dd>
              <code>{key.secret_key}</code>
            </dd>
            <dt>{t.id}</dt>
            <dd>
              <code>{key.id}</code>
            </dd>
            <dt>{t.kind}</dt>
            <dd>{key.api_key_role === 'personal' ? t.personal : t.own}</dd>
            <dt>{text.access.roles.title}</dt>
            <dd>
              <Held of={key} />
            </dd>
          </dl>
          <Opens policy={key.api_policy} closed={key.enabled === false} />
          <Shut
            address={at.key(id)}
            name={key.name}
            enabled={key.enabled !== false}
            words={t.shut}
            may={{ update: may('updateApiKey'), remove: may('deleteApiKey') }}
            list="/keys"
          />
        </>
      )}
    </One>
  )
}

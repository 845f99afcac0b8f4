import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { useKept } from '../parts/draft'
import { Name } from '../parts/Name'
import { Select } from '../parts/Select'
import { useCaller, useMay } from '../session/caller'
import { text } from '../text/en'
import { type ApiKey, useKeys, useRefresh } from './access'
import { useFilters } from './filters'
import { List, OfCorpus } from './List'
import { NewKey } from './NewKey'
import { Held } from './Rights'
import { seesAllKeys } from './roles'
import { Secret } from './Secret'

const t = text.access.keys

function Row({ apiKey }: { apiKey: ApiKey }) {
  return (
    <li className="card entry">
      <div>
        <Link href={`/keys/${encodeURIComponent(apiKey.id)}`} className="name">
          <Name>{apiKey.name}</Name>
        </Link>
        {apiKey.enabled === false && <span className="tag">{text.access.disabled}</span>}
        <p className="about">
          <Held of={apiKey} />
        </p>
      </div>
      <p className="about side">
        <code>{apiKey.secret_key}</code>
        {apiKey.api_key_role === 'personal' && (
          <>
            <br />
            {t.personal}
          </>
        )}
      </p>
    </li>
  )
}

/** The keys that the caller may see: all of them, or their own. */
export function Keys() {
  const { data: caller } = useCaller()
  return caller ? <Listed all={seesAllKeys(caller)} /> : null
}

function Listed({ all }: { all: boolean }) {
  const [filters, change] = useFilters(['corpus', 'kind'])
  const found = useKeys({
    corpus_key: filters.corpus || undefined,
    api_key_role: all ? filters.kind || undefined : 'personal',
  })
  const [making, setMaking] = useKept('making', false)
  const [made, setMade] = useState<ApiKey>()
  const [, go] = useLocation()
  const refresh = useRefresh()
  const may = useMay()
  const keys = found.data?.pages.flatMap((p) => p.api_keys) ?? []
  const shown = () => {
    const readable = made && (all || made.api_key_role === 'personal')
    setMade(undefined)
    setMaking(false)
    if (readable) go(`/keys/${encodeURIComponent(made.id)}`)
  }
  return (
    <div className="stack">
      <div className="row spread">
        <h1>{t.title}</h1>
        {!making && may('createApiKey') && (
          <Button kind="first" onClick={() => setMaking(true)}>
            {t.create}
          </Button>
        )}
      </div>
      {making && (
        <NewKey
          made={(key) => {
            setMade(key)
            announce(t.made)
            void refresh()
          }}
          cancel={() => setMaking(false)}
        />
      )}
      {made && (
        <Secret
          shown={{ title: t.secretTitle, why: t.secretWhy, values: [[t.secret, made.secret_key]] }}
          close={shown}
        />
      )}
      {all ? (
        <div className="row filters">
          <OfCorpus value={filters.corpus} change={(corpus) => change({ corpus })} />
          <Select
            label={t.kind}
            value={filters.kind}
            onChange={(e) => change({ kind: e.target.value })}
            options={[
              ['', t.anyKind],
              ['personal', t.personal],
              ['serving', t.serving],
              ['serving_and_indexing', t.servingAndIndexing],
            ]}
          />
        </div>
      ) : (
        <p className="about">{t.onlyOwn}</p>
      )}
      <List found={found} count={keys.length} none={filters.corpus || filters.kind ? t.noMatch : t.empty}>
        {keys.map((k) => (
          <Row key={k.id} apiKey={k} />
        ))}
      </List>
    </div>
  )
}

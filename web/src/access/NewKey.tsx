import { useState } from 'react'
import { call } from '../api/call'
import { Field } from '../parts/Field'
import { Select } from '../parts/Select'
import { useCaller } from '../session/caller'
import { text } from '../text/en'
import type { ApiKey, Rights } from './access'
import { useAct } from './act'
import { Form, fieldsOf } from './Form'
import { RightsFields } from './Rights'

const t = text.access.keys

/** The form of a new key: one with roles of its own, or one with those of the person who makes it. */
export function NewKey({ made, cancel }: { made: (key: ApiKey) => void; cancel: () => void }) {
  const { data: caller } = useCaller()
  const [name, setName] = useState('')
  const [personal, setPersonal] = useState(false)
  const [rights, setRights] = useState<Rights>({ api_roles: [], corpus_roles: [] })
  const { busy, error, act } = useAct()
  const fields = fieldsOf(error)
  const create = async () => {
    const body = personal ? { name, api_key_role: 'personal' } : { name, ...rights }
    const key = await act(() => call<ApiKey>('/v2/api_keys', { method: 'POST', body }))
    if (key) made(key)
  }
  return (
    <Form
      act={t.make}
      busy={busy}
      error={error}
      places={['body.name', 'body.api_key_role']}
      submit={() => void create()}
      cancel={cancel}
    >
      <Field
        label={t.name}
        hint={t.nameHint}
        value={name}
        onChange={(e) => setName(e.target.value)}
        bad={fields['body.name']}
        autoComplete="off"
        required
        autoFocus
      />
      {caller?.type === 'user' && (
        <Select
          label={t.kind}
          hint={personal ? t.personalHint : t.ownHint}
          value={personal ? 'personal' : 'own'}
          onChange={(e) => setPersonal(e.target.value === 'personal')}
          options={[
            ['own', t.own],
            ['personal', t.personal],
          ]}
          bad={fields['body.api_key_role']}
        />
      )}
      {!personal && <RightsFields rights={rights} change={(part) => setRights({ ...rights, ...part })} error={error} />}
    </Form>
  )
}

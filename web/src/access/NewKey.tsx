import { call } from '../api/call'
import { useDraft } from '../parts/draft'
import { Field } from '../parts/Field'
import { Select } from '../parts/Select'
import { useCaller } from '../session/caller'
import { text } from '../text/en'
import { type ApiKey, rightsOf } from './access'
import { useAct } from './act'
import { Form, fieldsOf } from './Form'
import { RightsFields } from './Rights'

const t = text.access.keys

const nothing = { name: '', personal: false, rights: rightsOf({}) }

/** The form of a new key: one with roles of its own, or one with those of the person who makes it. */
export function NewKey({ made, cancel }: { made: (key: ApiKey) => void; cancel: () => void }) {
  const { data: caller } = useCaller()
  const [typed, setTyped, saved] = useDraft('key', nothing)
  const { name, personal, rights } = typed
  const { busy, error, act } = useAct()
  const fields = fieldsOf(error)
  const create = async () => {
    const body = personal ? { name, api_key_role: 'personal' } : { name, ...rights }
    const key = await act(() => call<ApiKey>('/v2/api_keys', { method: 'POST', body }))
    if (!key) return
    saved()
    made(key)
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
        onChange={(e) => setTyped({ ...typed, name: e.target.value })}
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
          onChange={(e) => setTyped({ ...typed, personal: e.target.value === 'personal' })}
          options={[
            ['own', t.own],
            ['personal', t.personal],
          ]}
          bad={fields['body.api_key_role']}
        />
      )}
      {!personal && (
        <RightsFields
          rights={rights}
          change={(part) => setTyped({ ...typed, rights: { ...rights, ...part } })}
          error={error}
        />
      )}
    </Form>
  )
}

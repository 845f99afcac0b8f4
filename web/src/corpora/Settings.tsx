import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { differing } from '../parts/change'
import { useDraft } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { number } from '../parts/locale'
import { useMay, useStill } from '../session/caller'
import { text } from '../text/en'
import { type Corpus, sizeOf, useDeleteCorpus, useResetCorpus, useUpdateCorpus } from './corpora'

const changeable = (c: Corpus) => ({
  name: c.name ?? '',
  description: c.description ?? '',
  save_history: c.save_history ?? false,
  enabled: c.enabled ?? true,
})

/** The settings that can be changed. Only what was changed is sent, so that nothing is lost that others change meanwhile. */
function Change({ corpus }: { corpus: Corpus }) {
  const [base, setBase] = useState(() => changeable(corpus))
  const [typed, setTyped] = useDraft('settings', base)
  const update = useUpdateCorpus(corpus.key ?? '')
  const set = (part: Partial<typeof typed>) => setTyped({ ...typed, ...part })
  const fields = update.error instanceof Failure ? update.error.fields : {}
  const submit = (e: FormEvent) => {
    e.preventDefault()
    update.mutate(differing(base, typed), {
      onSuccess: () => {
        setBase(typed)
        announce(text.settings.saved)
      },
    })
  }
  return (
    <form className="card stack" onSubmit={submit}>
      <Field
        label={text.settings.name}
        value={typed.name}
        onChange={(e) => set({ name: e.target.value })}
        bad={fields['body.name']}
      />
      <Field
        label={text.corpora.description}
        value={typed.description}
        onChange={(e) => set({ description: e.target.value })}
        bad={fields['body.description']}
      />
      <label className="check">
        <input type="checkbox" checked={typed.enabled} onChange={(e) => set({ enabled: e.target.checked })} />
        {text.settings.enabled}
      </label>
      <label className="check">
        <input type="checkbox" checked={typed.save_history} onChange={(e) => set({ save_history: e.target.checked })} />
        {text.settings.history}
      </label>
      {update.error && Object.keys(fields).length === 0 && <Failed error={update.error} />}
      <div className="row">
        <Button kind="first" type="submit" busy={update.isPending}>
          {text.settings.save}
        </Button>
        {update.isSuccess && base === typed && <span className="good">{text.settings.saved}</span>}
      </div>
    </form>
  )
}

/** What can't be changed: the encoder and the dimensions. */
function Facts({ corpus }: { corpus: Corpus }) {
  return (
    <dl className="facts card">
      <dt>{text.settings.key}</dt>
      <dd>
        <code>{corpus.key}</code>
      </dd>
      <dt>{text.settings.encoder}</dt>
      <dd>{corpus.encoder_name}</dd>
      <dt>{text.settings.characters}</dt>
      <dd>{number(corpus.limits?.used_characters ?? 0)}</dd>
      {(corpus.custom_dimensions ?? []).map((d) => (
        <div key={d.name} className="pair">
          <dt>
            {text.settings.dimension} <code>{d.name}</code>
          </dt>
          <dd>
            {text.settings.defaults(number(d.indexing_default ?? 0), number(d.querying_default ?? 0))} {d.description}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** The settings of a corpus, and the two ways to lose what it holds. */
export function Settings({ corpus }: { corpus: Corpus }) {
  const key = corpus.key ?? ''
  const [asks, setAsks] = useState<'reset' | 'delete'>()
  const [, go] = useLocation()
  const reset = useResetCorpus(key)
  const remove = useDeleteCorpus(key)
  const may = useMay()
  const documents = number(sizeOf(corpus).documents)
  return (
    <div className="stack">
      {useStill(may('updateCorpus', key)) && <Change corpus={corpus} />}
      <Facts corpus={corpus} />
      <div className="row">
        {may('resetCorpus', key) && (
          <Button kind="danger" onClick={() => setAsks('reset')}>
            {text.settings.reset}
          </Button>
        )}
        {may('deleteCorpus', key) && (
          <Button kind="danger" onClick={() => setAsks('delete')}>
            {text.settings.remove}
          </Button>
        )}
      </div>
      {asks === 'reset' && (
        <Confirm
          title={text.settings.reset}
          what={text.settings.resetWhat(documents)}
          act={text.settings.reset}
          typed={key}
          run={() => reset.mutateAsync(undefined).then(() => announce(text.settings.wasReset))}
          close={() => setAsks(undefined)}
        />
      )}
      {asks === 'delete' && (
        <Confirm
          title={text.settings.remove}
          what={text.settings.removeWhat(documents)}
          act={text.settings.remove}
          typed={key}
          run={() => remove.mutateAsync().then(() => go('~/console/corpora'))}
          close={() => setAsks(undefined)}
        />
      )}
    </div>
  )
}

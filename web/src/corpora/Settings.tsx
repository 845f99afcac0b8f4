import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { number } from '../parts/locale'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { type Corpus, sizeOf, useDeleteCorpus, useResetCorpus, useUpdateCorpus } from './corpora'

function Change({ corpus }: { corpus: Corpus }) {
  const [name, setName] = useState(corpus.name ?? '')
  const [description, setDescription] = useState(corpus.description ?? '')
  const [history, setHistory] = useState(corpus.save_history ?? false)
  const [enabled, setEnabled] = useState(corpus.enabled ?? true)
  const update = useUpdateCorpus(corpus.key ?? '')
  const fields = update.error instanceof Failure ? update.error.fields : {}
  const submit = (e: FormEvent) => {
    e.preventDefault()
    update.mutate(
      { name, description, save_history: history, enabled },
      { onSuccess: () => announce(text.settings.saved) },
    )
  }
  return (
    <form className="card stack" onSubmit={submit}>
      <Field
        label={text.settings.name}
        value={name}
        onChange={(e) => setName(e.target.value)}
        bad={fields['body.name']}
      />
      <Field
        label={text.corpora.description}
        value={description}
        onChange={(e) => setDescription(e.target.value)}
        bad={fields['body.description']}
      />
      <label className="check">
        <input type="checkbox" checked={enabled} onChange={(e) => setEnabled(e.target.checked)} />
        {text.settings.enabled}
      </label>
      <label className="check">
        <input type="checkbox" checked={history} onChange={(e) => setHistory(e.target.checked)} />
        {text.settings.history}
      </label>
      {update.error && Object.keys(fields).length === 0 && <Failed error={update.error} />}
      <div className="row">
        <Button kind="first" type="submit" disabled={update.isPending}>
          {text.settings.save}
        </Button>
        {update.isSuccess && <span className="good">{text.settings.saved}</span>}
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
      {may('updateCorpus', key) && <Change corpus={corpus} />}
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

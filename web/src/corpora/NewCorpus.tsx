import type { FormEvent } from 'react'
import { useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { useDraft } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import { AttributeRows } from './AttributeRows'
import { type NewCorpus as Body, useCreateCorpus } from './corpora'
import { DimensionRows } from './DimensionRows'
import { keyOf } from './key'

const nothing: Body = { key: '', name: '', description: '' }

const places = ['body.key', 'body.name', 'body.description', 'body.encoder_name']

/** What few corpora need, and none can change later but the attributes. */
function More({ body, change, error }: { body: Body; change: (part: Partial<Body>) => void; error: unknown }) {
  const fields = error instanceof Failure ? error.fields : {}
  const check = (name: 'save_history' | 'queries_are_answers' | 'documents_are_questions', label: string) => (
    <label className="check">
      <input type="checkbox" checked={body[name] ?? false} onChange={(e) => change({ [name]: e.target.checked })} />
      {label}
    </label>
  )
  return (
    <details>
      <summary>{text.corpora.moreSettings}</summary>
      <div className="stack more">
        <AttributeRows
          rows={body.filter_attributes ?? []}
          change={(filter_attributes) => change({ filter_attributes })}
          error={error}
        />
        <DimensionRows
          rows={body.custom_dimensions ?? []}
          change={(custom_dimensions) => change({ custom_dimensions })}
          error={error}
        />
        <Field
          label={text.settings.encoder}
          hint={text.corpora.encoderHint}
          value={body.encoder_name ?? ''}
          onChange={(e) => change({ encoder_name: e.target.value || undefined })}
          bad={fields['body.encoder_name']}
          spellCheck={false}
        />
        <div>
          {check('save_history', text.settings.history)}
          {check('queries_are_answers', text.corpora.queriesAreAnswers)}
          {check('documents_are_questions', text.corpora.documentsAreQuestions)}
        </div>
      </div>
    </details>
  )
}

/** The form of a new corpus, which leads to its page. */
export function NewCorpus({ cancel }: { cancel?: () => void }) {
  const [body, setBody, saved] = useDraft<Body>('new corpus', nothing)
  const [, go] = useLocation()
  const create = useCreateCorpus()
  const name = body.name ?? ''
  const change = (part: Partial<Body>) => setBody({ ...body, ...part })
  const fields = create.error instanceof Failure ? create.error.fields : {}
  const elsewhere = Object.keys(fields).length === 0 || Object.keys(fields).some((f) => !places.includes(f))
  const submit = (e: FormEvent) => {
    e.preventDefault()
    create.mutate(
      { ...body, key: keyOf(name) || name },
      {
        onSuccess: (made) => {
          saved()
          go(`/${encodeURIComponent(made.key ?? '')}`)
        },
      },
    )
  }
  return (
    <form className="card stack" onSubmit={submit}>
      <Field
        label={text.corpora.key}
        hint={name && keyOf(name) !== name ? text.corpora.keyShown(keyOf(name)) : text.corpora.keyHint}
        value={name}
        onChange={(e) => change({ name: e.target.value })}
        bad={fields['body.key'] ?? fields['body.name']}
        required
        autoFocus
      />
      <Field
        label={text.corpora.description}
        value={body.description ?? ''}
        onChange={(e) => change({ description: e.target.value })}
        bad={fields['body.description']}
      />
      <More body={body} change={change} error={create.error} />
      {create.error && elsewhere && <Failed error={create.error} />}
      <div className="row">
        <Button kind="first" type="submit" busy={create.isPending}>
          {text.corpora.make}
        </Button>
        {cancel && (
          <Button kind="quiet" onClick={cancel}>
            {text.cancel}
          </Button>
        )}
      </div>
    </form>
  )
}

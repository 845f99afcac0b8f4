import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import { useCreateCorpus } from './corpora'

/** Returns what a name would be as a key: letters and digits stay, everything between becomes one hyphen. */
export function keyOf(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_=]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 50)
}

/** The form of a new corpus, which leads to its page. */
export function NewCorpus({ cancel }: { cancel?: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [, go] = useLocation()
  const create = useCreateCorpus()
  const fields = create.error instanceof Failure ? create.error.fields : {}
  const submit = (e: FormEvent) => {
    e.preventDefault()
    create.mutate(
      { key: keyOf(name) || name, name, description },
      { onSuccess: (made) => go(`/${encodeURIComponent(made.key ?? '')}`) },
    )
  }
  return (
    <form className="card stack" onSubmit={submit}>
      <Field
        label={text.corpora.key}
        hint={name && keyOf(name) !== name ? text.corpora.keyShown(keyOf(name)) : text.corpora.keyHint}
        value={name}
        onChange={(e) => setName(e.target.value)}
        bad={fields['body.key'] ?? fields['body.name']}
        required
        autoFocus
      />
      <Field
        label={text.corpora.description}
        value={description}
        onChange={(e) => setDescription(e.target.value)}
        bad={fields['body.description']}
      />
      {create.error && Object.keys(fields).length === 0 && <Failed error={create.error} />}
      <div className="row">
        <Button kind="first" type="submit" disabled={create.isPending}>
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

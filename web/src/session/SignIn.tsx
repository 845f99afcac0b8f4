import { Dialog } from '@base-ui/react/dialog'
import { type FormEvent, useState } from 'react'
import { call } from '../api/call'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import { type Credential, signIn, signOut, useSession } from './session'
import './session.css'

/** Returns a credential that the service accepts. */
async function proven(way: Credential['kind'], name: string, secret: string): Promise<Credential> {
  if (way === 'token') {
    const body = { username: name, password: secret }
    const token = await call<{ access_token: string }>('/v2/sign_in', { method: 'POST', body })
    return { kind: 'token', secret: token.access_token, name }
  }
  const c: Credential = { kind: 'key', secret: secret.trim(), name: '' }
  try {
    await call('/v2/corpora', { query: { limit: 1 } }, c)
  } catch (e) {
    // A key that may not list corpora is a key all the same.
    if (!(e instanceof Failure && e.status === 403)) throw e
  }
  return c
}

/** The form that asks for a key, or for name and password. */
function Form({ title, why }: { title: string; why?: string }) {
  const [way, setWay] = useState<Credential['kind']>('key')
  const [name, setName] = useState('')
  const [secret, setSecret] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (e: FormEvent) => {
    e.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      signIn(await proven(way, name, secret))
    } catch (failed) {
      const wrongKey = way === 'key' && failed instanceof Failure && failed.status === 401
      setError(wrongKey ? new Error(text.session.wrongKey) : failed)
      setBusy(false)
    }
  }
  const choose = (next: Credential['kind']) => () => {
    setWay(next)
    setSecret('')
    setError(undefined)
  }
  return (
    <form onSubmit={(e) => void submit(e)}>
      <h1>{title}</h1>
      {why && <p>{why}</p>}
      <div className="ways" role="tablist">
        <button type="button" role="tab" aria-selected={way === 'key'} onClick={choose('key')}>
          {text.session.byKey}
        </button>
        <button type="button" role="tab" aria-selected={way === 'token'} onClick={choose('token')}>
          {text.session.byPassword}
        </button>
      </div>
      {way === 'token' && (
        <Field
          label={text.session.name}
          value={name}
          onChange={(e) => setName(e.target.value)}
          autoComplete="username"
          required
        />
      )}
      <Field
        key={way}
        label={way === 'key' ? text.session.key : text.session.password}
        hint={way === 'key' ? text.session.keyHint : undefined}
        type="password"
        value={secret}
        onChange={(e) => setSecret(e.target.value)}
        autoComplete={way === 'key' ? 'off' : 'current-password'}
        required
      />
      {error !== undefined && <Failed error={error} />}
      <Button kind="first" type="submit" disabled={busy}>
        {text.session.enter}
      </Button>
      <p className="kept">{text.session.kept}</p>
    </form>
  )
}

/** The page of somebody who has not signed in. */
export function SignIn() {
  return (
    <main className="sign-in">
      <Form title={text.session.title} />
    </main>
  )
}

/** The dialog over the page of somebody whose sign-in has ended. */
export function AsksAgain() {
  const { refused } = useSession()
  return (
    <Dialog.Root open={refused} onOpenChange={(open) => !open && signOut()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="asks-again" aria-label={text.session.again}>
          <Form title={text.session.again} why={text.session.againWhy} />
          <Button kind="quiet" onClick={signOut}>
            {text.session.leave}
          </Button>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

import { Dialog } from '@base-ui/react/dialog'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { text } from '../text/en'
import { type Credential, forget, keeps, signIn, signOut, useSession } from './session'
import { byCode, byKey, byPassword, takeCode } from './tokens'
import './session.css'

/** The form that asks for a key, or for name and password. */
function Form({ title, why, last }: { title: string; why?: string; last?: Credential }) {
  const [way, setWay] = useState<Credential['kind']>(last?.kind ?? 'key')
  const [name, setName] = useState(last?.kind === 'token' ? last.name : '')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const submit = async (e: FormEvent<HTMLFormElement>) => {
    e.preventDefault()
    const secret = String(new FormData(e.currentTarget).get('secret') ?? '')
    setBusy(true)
    setError(undefined)
    try {
      signIn(await (way === 'key' ? byKey(secret) : byPassword(name, secret)))
    } catch (failed) {
      const wrongKey = way === 'key' && failed instanceof Failure && failed.status === 401
      setError(wrongKey ? new Error(text.session.wrongKey) : failed)
      setBusy(false)
    }
  }
  const choose = (next: Credential['kind']) => () => {
    setWay(next)
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
        name="secret" // not a state of the page, which would write it into an attribute
        autoComplete={way === 'key' ? 'off' : 'current-password'}
        required
      />
      {error !== undefined && <Failed error={error} />}
      <Button kind="first" type="submit" busy={busy}>
        {text.session.enter}
      </Button>
      <p className="kept">{keeps() ? text.session.kept : text.session.notKept}</p>
    </form>
  )
}

// Taken when the page loads: it works once, and must not stay in the address.
// Whoever opens such an address means to be the person of the code, also where somebody is signed in.
let code = takeCode()
if (code) forget()
addEventListener('hashchange', () => location.hash.startsWith('#code=') && location.reload())

/** The page of somebody who has not signed in. An address with a code signs in by itself. */
export function SignIn() {
  const [busy, setBusy] = useState(code !== '')
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    if (!code) return
    const once = code
    code = ''
    byCode(once)
      .then(signIn, setError)
      .finally(() => setBusy(false))
  }, [])
  return (
    <main className="sign-in">
      {busy ? (
        <p role="status">{text.session.byCode}</p>
      ) : (
        <div className="stack">
          {error !== undefined && <Failed error={error} />}
          <Form title={text.session.title} />
          <nav className="elsewhere" aria-label={text.session.elsewhere}>
            <a href="/guide">{text.areas.guide}</a>
            <a href="/docs">{text.areas.reference}</a>
            <a href="/openapi.yaml">{text.session.contract}</a>
          </nav>
        </div>
      )}
    </main>
  )
}

/** The dialog over the page of somebody whose sign-in has ended. Only its buttons close it: Escape would lose the page. */
export function AsksAgain() {
  const { refused, credential } = useSession()
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Dialog.Root open={refused} disablePointerDismissal>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup
          ref={popup}
          className="asks-again"
          aria-label={text.session.again}
          initialFocus={() => popup.current?.querySelector<HTMLElement>('[name=secret]') ?? true}
        >
          <Form title={text.session.again} why={text.session.againWhy(credential?.name ?? '')} last={credential} />
          <Button kind="quiet" onClick={signOut}>
            {text.session.leave}
          </Button>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

import { call } from '../api/call'
import { Failure } from '../api/failure'
import { type Credential, credential, renewed } from './session'

interface Token {
  access_token: string
  expires_in: number
}

function credentialOf(token: Token): Credential {
  return { kind: 'token', secret: token.access_token, name: '', who: '', expires: Date.now() + 1000 * token.expires_in }
}

/** Returns a credential with whom it belongs to. One that the service refuses is an error. */
async function known(c: Credential): Promise<Credential> {
  const caller = await call<{ type: string; id: string; name: string }>('/v2/caller', {}, c)
  return { ...c, name: caller.name, who: `${caller.type} ${caller.id}` }
}

/** Returns a fresh token as a credential; what it can't be asked about is left open, since the token is good. */
const fresh = (token: Token) => known(credentialOf(token)).catch(() => credentialOf(token))

/** Returns the credential that name and password give. */
export async function byPassword(username: string, password: string): Promise<Credential> {
  return fresh(await call<Token>('/v2/sign_in', { method: 'POST', body: { username, password } }, 'nobody'))
}

/** Returns the credential that a code gives, once. */
export async function byCode(code: string): Promise<Credential> {
  return fresh(await call<Token>('/v2/sign_in', { method: 'POST', body: { code } }, 'nobody'))
}

/** Returns an API key as a credential, if the service accepts it. */
export async function byKey(key: string): Promise<Credential> {
  return known({ kind: 'key', secret: key.trim(), name: '', who: '' })
}

/** Takes the code out of the address at once, so that it is neither shown nor kept in the history. */
export function takeCode(): string {
  const code = /^#code=(.+)$/.exec(location.hash)?.[1]
  if (!code) return ''
  history.replaceState(null, '', location.pathname + location.search)
  return decodeURIComponent(code)
}

/** How long before its end a token is exchanged, in milliseconds. */
const ahead = 10 * 60 * 1000

/** Renews the token of this tab while somebody works; a sign-in that is over is asked for where it is missed. */
export function keepSignedIn() {
  setInterval(async () => {
    const before = credential()
    if (!before?.expires || before.expires - Date.now() > ahead) return
    try {
      const token = await call<Token>('/v2/sign_in/renew', { method: 'POST' }, before)
      renewed(before, { ...credentialOf(token), name: before.name, who: before.who })
    } catch (e) {
      if (!(e instanceof Failure)) throw e
    }
  }, 60 * 1000)
}

/** Voids every sign-in of the person, on every device. */
export const signOutEverywhere = () => call('/v2/sign_out', { method: 'POST' })

import { call } from '../api/call'
import { Failure } from '../api/failure'
import { type Credential, credential, renewed } from './session'

interface Token {
  access_token: string
  expires_in: number
}

function credentialOf(name: string, token: Token): Credential {
  return { kind: 'token', secret: token.access_token, name, expires: Date.now() + 1000 * token.expires_in }
}

/** Returns the credential that name and password give. */
export async function byPassword(username: string, password: string): Promise<Credential> {
  return credentialOf(username, await call<Token>('/v2/sign_in', { method: 'POST', body: { username, password } }))
}

/** Returns the credential that a code gives, once. */
export async function byCode(code: string): Promise<Credential> {
  return credentialOf('', await call<Token>('/v2/sign_in', { method: 'POST', body: { code } }))
}

/** Returns an API key as a credential, if the service accepts it. */
export async function byKey(key: string): Promise<Credential> {
  const c: Credential = { kind: 'key', secret: key.trim(), name: '' }
  await call('/v2/caller', {}, c)
  return c
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
      renewed(before, credentialOf(before.name, token))
    } catch (e) {
      if (!(e instanceof Failure)) throw e
    }
  }, 60 * 1000)
}

/** Voids every sign-in of the person, on every device. */
export const signOutEverywhere = () => call('/v2/sign_out', { method: 'POST' })

import { useSyncExternalStore } from 'react'
import { dropDrafts } from '../parts/draft'

/** What this tab proves itself with: an API key, or the token of a person who has signed in. */
export interface Credential {
  kind: 'key' | 'token'
  secret: string
  /** Whom it belongs to, to be shown; empty where the service did not say. */
  name: string
  /** The same for every credential of a person, key or client; empty where the service did not say. */
  who: string
  /** When a token expires, in milliseconds since 1970. */
  expires?: number
}

interface State {
  credential?: Credential
  /** The service has refused the credential: the same person is asked again, over what they were doing. */
  refused: boolean
}

const place = 'quarry.session'
let state: State = { credential: stored(), refused: false }
const listeners = new Set<() => void>()
let waiting: { resume: () => void }[] = []

/** Session storage belongs to this tab and ends with it. Where it is forbidden, a reload asks again. */
function stored(): Credential | undefined {
  try {
    const raw = sessionStorage.getItem(place)
    return raw ? (JSON.parse(raw) as Credential) : undefined
  } catch {
    return undefined
  }
}

/** Reports whether this browser keeps something for the page over a reload. */
export function keeps(): boolean {
  try {
    sessionStorage.setItem(`${place}.try`, '')
    sessionStorage.removeItem(`${place}.try`)
    return true
  } catch {
    return false
  }
}

function change(next: State) {
  state = next
  try {
    if (next.credential) sessionStorage.setItem(place, JSON.stringify(next.credential))
    else sessionStorage.removeItem(place)
  } catch {
    // kept in memory alone
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns who is signed in, and renders again when that changes. */
export function useSession(): State {
  return useSyncExternalStore(subscribe, () => state)
}

export function credential(): Credential | undefined {
  return state.credential
}

/** Reports whether two credentials are of the same person, also where one is a key and the other one a sign-in. */
function samePerson(a: Credential, b: Credential): boolean {
  return a.secret === b.secret || (a.who !== '' && a.who === b.who)
}

/** Signs in; requests that were refused are sent again. Somebody else starts empty. */
export function signIn(c: Credential) {
  const before = state.credential
  change({ credential: c, refused: false })
  if (before && !samePerson(before, c)) return startAnew()
  for (const one of waiting) one.resume()
  waiting = []
}

/** Takes a fresh token of the same person in place of the present one. */
export function renewed(before: Credential, fresh: Credential) {
  if (state.credential === before) change({ ...state, credential: fresh })
}

/** Forgets who is signed in. */
export function forget() {
  change({ refused: false })
}

/** Leaves, and forgets all that the page holds. */
export function signOut() {
  forget()
  startAnew()
}

/** Loads the page again, so that nothing of the last person is left in its memory. */
function startAnew() {
  dropDrafts()
  location.assign('/console/')
}

/** Resolves once somebody has signed in anew, after a credential was refused. */
export function signedOut(used: Credential, signal?: AbortSignal): Promise<void> {
  if (state.credential && state.credential.secret !== used.secret) return Promise.resolve()
  return new Promise((resume, giveUp) => {
    waiting.push({ resume })
    signal?.addEventListener('abort', () => giveUp(signal.reason), { once: true })
    if (!state.refused) change({ ...state, refused: true })
  })
}

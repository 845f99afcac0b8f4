import { type Credential, credential, signedOut } from '../session/session'
import { text } from '../text/en'
import { type Asked, Failure, failureOf } from './failure'
import { doubt } from './reach'

/** What a call sends besides its path. */
export interface Sending {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  signal?: AbortSignal
}

/** Returns a path with its parameters escaped: path`/v2/corpora/${key}`. */
export function path(literals: TemplateStringsArray, ...values: string[]): string {
  return literals.reduce((out, part, i) => out + encodeURIComponent(values[i - 1] ?? '') + part)
}

/** Returns the headers that carry a credential. */
export function headersOf(c: Credential | undefined): Record<string, string> {
  if (!c) return {}
  return c.kind === 'key' ? { 'x-api-key': c.secret } : { authorization: `Bearer ${c.secret}` }
}

/**
 * Sends a request with the credential of this tab, and again once the person has signed in anew where it is refused. With
 * another credential, or as nobody, a refusal is an answer.
 */
export async function send(to: string, s: Sending = {}, as?: Credential | 'nobody'): Promise<Response> {
  const method = s.method ?? 'GET'
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(s.query ?? {})) if (value !== undefined) search.set(name, String(value))
  const body = s.body === undefined ? undefined : JSON.stringify(s.body)
  const asked: Asked = { method, path: search.size ? `${to}?${search}` : to, body }
  for (;;) {
    const used = as === 'nobody' ? undefined : (as ?? credential())
    const headers = headersOf(used)
    if (body !== undefined) headers['content-type'] = 'application/json'
    let answer: Response
    try {
      answer = await fetch(asked.path, { method, headers, body, signal: s.signal, credentials: 'omit' })
    } catch (e) {
      if (s.signal?.aborted) throw e
      throw unreachable(asked)
    }
    if (answer.ok) return answer
    const failure = await failureOf(asked, answer)
    if (failure.passing && failure.status !== 429) doubt()
    if (answer.status !== 401 || failure.foreign || as || !used) throw failure
    await signedOut(used, s.signal)
  }
}

/** Sends a request whose answer is JSON, or nothing. */
export async function call<T>(to: string, s: Sending = {}, as?: Credential | 'nobody'): Promise<T> {
  const answer = await send(to, s, as)
  if (answer.status === 204) return undefined as T
  const asked: Asked = { method: s.method ?? 'GET', path: to }
  let body: string
  try {
    body = await answer.text()
  } catch (e) {
    if (s.signal?.aborted) throw e
    throw unreachable(asked)
  }
  try {
    return JSON.parse(body) as T
  } catch {
    throw new Failure(asked, answer.status, text.failure.foreign(answer.status), { foreign: true })
  }
}

/** Returns the failure of a request that got no answer, or half of one. */
export function unreachable(asked: Asked): Failure {
  doubt()
  return new Failure(asked, 0, navigator.onLine ? text.failure.unreachable : text.failure.offline)
}

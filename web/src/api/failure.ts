import { text } from '../text/en'

/** The part of a request that a failure needs to be told, and to be shown as a curl command. */
export interface Asked {
  method: string
  path: string
  body?: string
}

/** Failure is an answer that is not a success, or no answer at all. Its message is a sentence for people. */
export class Failure extends Error {
  /** HTTP status; 0 when the service could not be reached. */
  readonly status: number
  /** Reasons by the place in the request that they are about, such as body.name. */
  readonly fields: Record<string, string>
  readonly requestId: string
  /** Seconds after which the service wants to be asked again; 0 when it does not say. */
  readonly after: number
  /** Whether something else than the service has answered, such as a proxy. */
  readonly foreign: boolean
  readonly asked: Asked

  constructor(asked: Asked, status: number, message: string, more: Partial<Failure> = {}) {
    super(message)
    this.name = 'Failure'
    this.asked = asked
    this.status = status
    this.fields = more.fields ?? {}
    this.requestId = more.requestId ?? ''
    this.after = more.after ?? 0
    this.foreign = more.foreign ?? false
  }

  /** Reports whether the same request may succeed in a moment. */
  get passing(): boolean {
    return [0, 429, 502, 503, 504].includes(this.status)
  }
}

/** Reads the body of an answer that is not a success. Proxies answer in HTML, and services that start not at all. */
export async function failureOf(asked: Asked, answer: Response): Promise<Failure> {
  const requestId = answer.headers.get('x-request-id') ?? ''
  const after = Number(answer.headers.get('retry-after')) || 0
  const body = parse(await answer.text().catch(() => ''))
  const said = body?.messages?.join(' ')
  return new Failure(asked, answer.status, said || text.failure.foreign(answer.status), {
    fields: body?.field_errors ?? {},
    requestId,
    after,
    foreign: !said,
  })
}

/** Returns what helps after a failure; nothing where the message is all that there is to say. */
export function adviceOn(failure: Failure): string | undefined {
  if (failure.status === 429) return text.failure.wait(failure.after)
  if (failure.status === 403 && !failure.message.includes('needs one of')) return undefined
  if (failure.status === 404 && failure.foreign) return undefined
  return text.failure.advice[failure.status]
}

interface Refusal {
  messages?: string[]
  field_errors?: Record<string, string>
}

/** Returns the body of a refusal, undefined for what is not one of ours. */
function parse(body: string): Refusal | undefined {
  try {
    const read = JSON.parse(body) as Refusal | null
    return Array.isArray(read?.messages) ? read : undefined
  } catch {
    return undefined
  }
}

/** Returns all that the body of a refusal says, as one text; empty for what is not one of ours. */
export function messageOf(body: string): string {
  const refusal = parse(body)
  return [...(refusal?.messages ?? []), ...Object.values(refusal?.field_errors ?? {})].join(' ')
}

/** Returns the request as a command, without the key. */
export function asCurl(asked: Asked, origin: string): string {
  const quote = (s: string) => `'${s.replaceAll("'", `'\\''`)}'`
  const parts = ['curl']
  if (asked.method !== 'GET') parts.push('-X', asked.method)
  parts.push(quote(origin + asked.path), '-H', '"x-api-key: $QUARRY_API_KEY"')
  if (asked.body !== undefined) parts.push('-H', quote('content-type: application/json'), '-d', quote(asked.body))
  return parts.join(' ')
}

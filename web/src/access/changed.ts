import { text } from '../text/en'
import type { AuditEvent } from './access'

/** A member of a request: what it was set to and, where the list tells, what it was before. */
export interface Change {
  name: string
  before?: string
  after: string
}

/** Writes a value as people read it: texts as they are, roles in words, other lists and objects as JSON. */
function written(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) {
    const items = value.map((v) => (typeof v === 'string' ? v : role(v)))
    if (!items.includes(undefined)) return items.join(', ') || '–'
  }
  return JSON.stringify(value)
}

/** Writes a role on a corpus; nothing for what is not one. */
function role(value: unknown): string | undefined {
  const { corpus_key: corpus, role: name } = (value ?? {}) as Partial<Record<string, unknown>>
  return typeof corpus === 'string' && typeof name === 'string'
    ? `${name} ${text.access.roles.of} ${corpus}`
    : undefined
}

/** What an action is done to: createUser and updateUser are done to a User. */
const kind = /^(create|update|replace|delete)(.+)$/

/** What an event is about: the same object has the same name in each event about it. Empty where it can't be told. */
function about(e: AuditEvent): string {
  const target = Object.entries(e.target ?? {}).filter(([name]) => name !== 'user_id')
  const [, , what] = kind.exec(e.action) ?? []
  return what && target.length ? JSON.stringify([what, target.sort()]) : ''
}

/**
 * Returns what an event changed. What a member was before is told by the last event before it that set the member of the
 * same object; `earlier` are the events before it, the newest first, without a gap. Where none tells, it is left open.
 */
export function changesOf(event: AuditEvent, earlier: AuditEvent[]): Change[] {
  const changes = /^(update|replace)/.test(event.action)
  return Object.entries(event.changes ?? {}).map(([name, value]) => {
    const after = written(value)
    const before = changes ? lastOf(name, about(event), earlier) : undefined
    return before === undefined || before === after ? { name, after } : { name, before, after }
  })
}

function lastOf(name: string, object: string, earlier: AuditEvent[]): string | undefined {
  if (!object) return undefined
  for (const e of earlier) {
    if (e.outcome !== 'succeeded' || about(e) !== object) continue
    if (e.action.startsWith('delete')) return undefined
    const set = e.changes?.[name]
    if (set !== undefined) return written(set)
  }
  return undefined
}

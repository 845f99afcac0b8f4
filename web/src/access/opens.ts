import type { operations } from '../api/schema'
import { text } from '../text/en'
import type { Policy } from './access'

/** What a policy opens, by the operation that stands for it; the order is that of reading. */
export const meanings = text.access.opens.what satisfies Partial<Record<keyof operations, string>>

/** A sentence about what is open, and where. */
export interface Opened {
  what: string
  /** The corpora that it is limited to; nothing where it is open on all. */
  corpora?: string[]
}

/** Returns in words what a policy opens. */
export function opened(policy: Policy): Opened[] {
  return Object.entries(meanings).flatMap(([operation, what]) => {
    const allowed = policy.allowed_operations[operation]
    if (!allowed) return []
    if (allowed.allow_any_resource || !allowed.allowed_resources) return [{ what }]
    const corpora = Object.entries(allowed.allowed_resources).flatMap(([place, keys]) =>
      place.includes('corpus') || place.includes('corpora') ? keys : [],
    )
    return corpora.length ? [{ what, corpora }] : []
  })
}

/** Returns sentences by where they hold, so that a corpus is named once. */
export function grouped(all: Opened[]): { corpora?: string[]; what: string[] }[] {
  const groups = new Map<string, { corpora?: string[]; what: string[] }>()
  for (const { what, corpora } of all) {
    const where = corpora ? JSON.stringify(corpora) : ''
    const group = groups.get(where)
    if (group) group.what.push(what)
    else groups.set(where, { corpora, what: [what] })
  }
  return [...groups.values()]
}

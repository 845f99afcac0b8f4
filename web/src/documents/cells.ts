import type { Document, Metadata } from './documents'

/** How much of a value stands in a cell; all of it is on the page of the document. */
const most = 200

export function cut(s: string, n = most): string {
  return s.length > n ? `${s.slice(0, n)}…` : s
}

/** Writes a value of metadata in one short line. */
export const cellOf = (value: unknown): string => cut(writtenOf(value))

/** Writes all of a value of metadata. */
export function writtenOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(writtenOf).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Returns the title of a document; empty where it has none. */
export function titleOf(metadata: Metadata | undefined): string {
  const title = metadata?.title
  return typeof title === 'string' ? title : ''
}

/** Returns the keys of metadata that documents have, the most frequent first. The title has a column of its own. */
export function keysOf(documents: Document[]): string[] {
  const counts = new Map<string, number>()
  for (const d of documents)
    for (const key of Object.keys(d.metadata ?? {})) if (key !== 'title') counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([key]) => key)
}

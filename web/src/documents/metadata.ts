import { text } from '../text/en'
import type { Metadata } from './documents'

/** What a value of metadata is, as people enter it. Lists have one value on each line. */
export type Kind = 'text' | 'number' | 'boolean' | 'texts' | 'numbers' | 'json'

export const kinds: Kind[] = ['text', 'number', 'boolean', 'texts', 'numbers', 'json']

/** A value of metadata while somebody edits it. */
export interface Row {
  id: number
  key: string
  kind: Kind
  text: string
}

let last = Date.now() // rows that were kept over a reload have lower ones

export const newRow = (): Row => ({ id: ++last, key: '', kind: 'text', text: '' })

/** Returns the kind in which a value is edited, so that what it becomes is the same value again. */
export function kindOf(value: unknown): Kind {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  if (typeof value === 'boolean') return 'boolean'
  if (!Array.isArray(value) || value.length === 0) return 'json'
  if (value.every((v) => typeof v === 'string' && v !== '' && !/[\r\n]/.test(v))) return 'texts'
  return value.every((v) => typeof v === 'number') ? 'numbers' : 'json'
}

export function rowOf(key: string, value: unknown): Row {
  const kind = kindOf(value)
  const lines = kind === 'texts' || kind === 'numbers'
  const written = lines ? (value as unknown[]).join('\n') : kind === 'json' ? JSON.stringify(value) : String(value)
  return { id: ++last, key, kind, text: written }
}

export const rowsOf = (metadata: Metadata): Row[] => Object.entries(metadata).map(([key, value]) => rowOf(key, value))

/** Returns the row in another kind. A text that is no yes or no becomes "no". */
export function inKind(row: Row, kind: Kind): Row {
  return { ...row, kind, text: kind === 'boolean' && row.text !== 'true' ? 'false' : row.text }
}

/** Returns the value of a row. What it can't be is thrown as an Error for people. */
export function entered(row: Row): unknown {
  switch (row.kind) {
    case 'text':
      return row.text
    case 'boolean':
      return row.text === 'true'
    case 'number':
      return numberOf(row.text)
    case 'texts':
      return linesOf(row.text)
    case 'numbers':
      return linesOf(row.text).map(numberOf)
    case 'json':
      return jsonOf(row.text)
  }
}

const linesOf = (s: string) => s.split('\n').filter((line) => line.trim() !== '')

function numberOf(s: string): number {
  const n = Number(s)
  if (s.trim() === '' || !Number.isFinite(n)) throw new Error(text.metadata.noNumber(s))
  if (Number.isInteger(n) && !Number.isSafeInteger(n)) throw new Error(text.metadata.inexact)
  return n
}

function jsonOf(s: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(s)
  } catch (e) {
    throw new Error(text.metadata.noJson(e instanceof Error ? e.message : ''))
  }
  if (value === null) throw new Error(text.metadata.isNull)
  return value
}

/** Reports whether two values are the same, in whatever order the members of their objects stand. */
export const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b)

function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, v: unknown) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  )
}

/** What rows change: members to set, and null for those to remove; with what is wrong, by row. */
export interface Edit {
  changes: Metadata
  bad: Record<number, string>
}

/** Returns what rows change in metadata. Values that nobody touched are not in it, and so stay exactly what they are. */
export function editOf(before: Metadata, rows: Row[]): Edit {
  const changes: Metadata = Object.create(null)
  const bad: Record<number, string> = {}
  const seen = new Set<string>()
  for (const row of rows) {
    const old = Object.hasOwn(before, row.key) ? before[row.key] : undefined
    if (row.key === '' && old === undefined) bad[row.id] = text.metadata.noKey
    else if (seen.has(row.key)) bad[row.id] = text.metadata.twice
    seen.add(row.key)
    if (old !== undefined && unchanged(row, old)) continue
    try {
      const value = entered(row)
      if (!same(value, old)) changes[row.key] = value
    } catch (e) {
      bad[row.id] ??= e instanceof Error ? e.message : String(e)
    }
  }
  for (const key of Object.keys(before)) if (!seen.has(key)) changes[key] = null
  return { changes, bad }
}

function unchanged(row: Row, old: unknown): boolean {
  const was = rowOf(row.key, old)
  return was.kind === row.kind && was.text === row.text
}

/** A member that somebody else has changed since it was read here. */
export interface Foreign {
  key: string
  before: unknown
  now: unknown
}

/** Returns the members in which two states of metadata differ. */
export function foreign(before: Metadata, now: Metadata): Foreign[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...keys]
    .filter((key) => !same(before[key], now[key]))
    .map((key) => ({ key, before: before[key], now: now[key] }))
}

/** Sorts what the service says about members to their rows; the second is what is about none of them. */
export function sorted(fields: Record<string, string>, rows: Row[]): [Record<number, string>, boolean] {
  const bad: Record<number, string> = {}
  let other = Object.keys(fields).length === 0
  for (const [field, reason] of Object.entries(fields)) {
    const of = rows.filter((r) => {
      const place = `body.metadata.${r.key}`
      return field === place || field.startsWith(`${place}.`) || field.startsWith(`${place}[`)
    })
    const row = of.sort((a, b) => b.key.length - a.key.length)[0]
    if (row) bad[row.id] = reason
    else other = true
  }
  return [bad, other]
}

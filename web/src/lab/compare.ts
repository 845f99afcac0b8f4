import type { components } from '../api/schema'
import { inContext } from './passage'

export type Result = components['schemas']['IndividualSearchResult']

/** How the rank of a passage under the second settings differs from that under the first. */
export type Change = 'rose' | 'fell' | 'stayed' | 'came' | 'went'

export interface Compared {
  key: string
  change: Change
  /** Ranks from 1; none where the passage is not among the results. */
  first?: number
  second?: number
  /** By how many ranks it rose or fell. */
  by: number
  result: Result
}

/** The results of one search, and how to find the passage in their texts. */
export interface Ranked {
  results: Result[]
  start?: string
  end?: string
}

/** Returns what names each passage: its document and its text without context. A passage that is found twice has two names. */
function names({ results, start, end }: Ranked): string[] {
  const seen = new Map<string, number>()
  return results.map((r) => {
    const name = JSON.stringify([r.corpus_key, r.document_id, inContext(r.text ?? '', start, end).match])
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    return nth === 1 ? name : `${name}#${nth}`
  })
}

/** Puts the results of two searches into one list: in the order of the second, and what went where it stood in the first. */
export function compare(first: Ranked, second: Ranked): Compared[] {
  const firstRank = new Map(names(first).map((key, i) => [key, i + 1]))
  const secondNames = names(second)
  const secondRank = new Map(secondNames.map((key, i) => [key, i + 1]))
  const present = second.results.map<Compared>((result, i) => {
    const key = secondNames[i] as string
    const was = firstRank.get(key)
    const by = was === undefined ? 0 : was - (i + 1)
    const change: Change = was === undefined ? 'came' : by > 0 ? 'rose' : by < 0 ? 'fell' : 'stayed'
    return { key, change, first: was, second: i + 1, by: Math.abs(by), result }
  })
  const gone = [...firstRank]
    .filter(([key]) => !secondRank.has(key))
    .map<Compared>(([key, rank]) => ({
      key,
      change: 'went',
      first: rank,
      by: 0,
      result: first.results[rank - 1] as Result,
    }))
  const place = (c: Compared) => c.second ?? (c.first ?? 0) + 0.5
  return [...present, ...gone].sort((a, b) => place(a) - place(b))
}

/** Counts the changes. */
export function counted(all: Compared[]): Record<Change, number> {
  const out = { rose: 0, fell: 0, stayed: 0, came: 0, went: 0 }
  for (const c of all) out[c.change]++
  return out
}

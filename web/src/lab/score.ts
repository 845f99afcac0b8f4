import type { components } from '../api/schema'

export type Part = components['schemas']['ScorePart']

/** A part of a score as a piece of a bar: from where to where, on a scale of 0 to 100. */
export interface Step {
  name: string
  value: number
  /** The score with this part. */
  total: number
  from: number
  to: number
}

/** Returns the parts of a score one behind the other, and where on the scale nothing and the score are. */
export function steps(parts: Part[]): { steps: Step[]; zero: number; end: number } {
  let total = 0
  const bare = parts.map((p) => {
    const before = total
    total += p.value
    return { ...p, before, total }
  })
  const low = Math.min(0, ...bare.map((b) => b.total))
  const high = Math.max(0, ...bare.map((b) => b.total))
  const scale = (v: number) => (high === low ? 0 : ((v - low) / (high - low)) * 100)
  return {
    zero: scale(0),
    end: scale(total),
    steps: bare.map((b) => ({
      name: b.name,
      value: b.value,
      total: b.total,
      from: scale(Math.min(b.before, b.total)),
      to: scale(Math.max(b.before, b.total)),
    })),
  }
}

/** What a part of a score is about: a side of retrieval, a dimension, or a stage of the reranker. */
export type Source =
  | { kind: 'lexical' | 'dense' | 'retrieval' | 'dimensions' }
  | { kind: 'dimension'; name: string }
  | { kind: 'stage'; index: number; type: string; part: string }
  | { kind: 'other'; name: string }

/** Reads the name of a part, such as reranker[1].mmr.relevance. */
export function sourceOf(name: string): Source {
  if (name === 'lexical' || name === 'dense' || name === 'retrieval' || name === 'dimensions') return { kind: name }
  if (name.startsWith('dimension.')) return { kind: 'dimension', name: name.slice(10) }
  const stage = /^reranker\[(\d+)\]\.(\w+)(?:\.(.+))?$/.exec(name)
  if (stage) return { kind: 'stage', index: Number(stage[1]), type: stage[2] ?? '', part: stage[3] ?? '' }
  return { kind: 'other', name }
}

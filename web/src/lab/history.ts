import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'

export type Record = components['schemas']['QueryHistory']
export type Span = components['schemas']['QueryHistorySpan']
type Page = components['schemas']['ListQueryHistoriesResponse']

/** What a list of kept queries is narrowed by; times as a field of a form has them, in the time zone of the reader. */
export const filters = ['corpus_key', 'started_after', 'started_before', 'chat_id', 'history_id'] as const
export type Filters = Partial<globalThis.Record<(typeof filters)[number], string>>

/** Returns a time of a form as the service reads it, undefined for none. */
export function instant(local: string | undefined): string | undefined {
  const at = new Date(local ?? '')
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

/** Kept queries, newest first, a page at a time. */
export function useHistories(f: Filters) {
  const query = {
    corpus_key: f.corpus_key || undefined,
    started_after: instant(f.started_after),
    started_before: instant(f.started_before),
    chat_id: f.chat_id || undefined,
    history_id: f.history_id || undefined,
  }
  return useInfiniteQuery({
    queryKey: ['histories', query],
    queryFn: ({ pageParam, signal }) =>
      call<Page>('/v2/queries', { query: { ...query, limit: 50, page_key: pageParam || undefined }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.metadata?.page_key,
  })
}

export function useRecord(id: string) {
  return useQuery({
    queryKey: ['histories', 'one', id],
    queryFn: ({ signal }) => call<Record>(path`/v2/queries/${id}`, { signal }),
    retry: false,
  })
}

/** A span as a piece of a timeline: when it began and how long it took, in milliseconds and in parts of the whole. */
export interface Timed {
  span: Span
  begins: number
  takes: number
  from: number
  width: number
}

/** Puts the spans of a query on one scale, which reaches from its begin to the end of the last. */
export function timeline(of: Record): Timed[] {
  const start = new Date(of.started_at ?? 0).getTime()
  const all = (of.spans ?? []).map((span) => ({
    span,
    begins: Math.max(0, new Date(span.started_at ?? of.started_at ?? 0).getTime() - start),
    takes: span.latency_millis ?? 0,
  }))
  const whole = Math.max(1, of.latency_millis ?? 0, ...all.map((s) => s.begins + s.takes))
  return all.map((s) => ({ ...s, from: (s.begins / whole) * 100, width: (s.takes / whole) * 100 }))
}

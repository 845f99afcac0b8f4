import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import { selectionOf, type Which } from './selection'

export type Document = components['schemas']['Document']
export type Metadata = Record<string, unknown>

interface Page {
  documents?: Document[]
  metadata?: { page_key?: string }
}

const pageOf = (corpus: string, limit: number, filter: string, page_key: string, signal?: AbortSignal) =>
  call<Page>(path`/v2/corpora/${corpus}/documents`, {
    query: { limit, page_key: page_key || undefined, metadata_filter: filter || undefined },
    signal,
  })

/**
 * The documents that a filter selects, by id, a page at a time. They are not read again by themselves: that would be every
 * page that somebody has scrolled through.
 */
export function useDocuments(corpus: string, filter: string) {
  return useInfiniteQuery({
    queryKey: ['documents', corpus, 'list', filter],
    queryFn: ({ pageParam, signal }) => pageOf(corpus, 200, filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (last) => last.metadata?.page_key || undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
  })
}

/** Returns a function that has all that is shown of a corpus's documents read anew, from the beginning. */
export function useReread(corpus: string): () => void {
  const queries = useQueryClient()
  return useCallback(() => {
    void queries.resetQueries({ queryKey: ['documents', corpus, 'list'] })
    void queries.invalidateQueries({ queryKey: ['corpora'] })
  }, [queries, corpus])
}

/** Counts the documents that a filter selects, and reports how far it is, since nothing in the interface does at once. */
export async function countDocuments(corpus: string, filter: string, signal: AbortSignal, report: (n: number) => void) {
  let n = 0
  let key = ''
  do {
    const page = await pageOf(corpus, 1000, filter, key, signal)
    n += page.documents?.length ?? 0
    key = page.metadata?.page_key ?? ''
    report(n)
  } while (key)
  return n
}

export const documentKey = (corpus: string, id: string) => ['documents', corpus, 'one', id]

export const readDocument = (corpus: string, id: string, signal?: AbortSignal) =>
  call<Document>(path`/v2/corpora/${corpus}/documents/${id}`, { signal })

export function useDocument(corpus: string, id: string) {
  return useQuery({
    queryKey: documentKey(corpus, id),
    queryFn: ({ signal }) => readDocument(corpus, id, signal),
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  })
}

export const changeMetadata = (corpus: string, id: string, metadata: Metadata) =>
  call<Document>(path`/v2/corpora/${corpus}/documents/${id}`, { method: 'PATCH', body: { metadata } })

export const deleteDocument = (corpus: string, id: string) =>
  call(path`/v2/corpora/${corpus}/documents/${id}`, { method: 'DELETE' })

interface Started {
  job_id: string
}

/** Begins the jobs that delete what is selected, and returns their ids. */
export function deleteAll(corpus: string, which: Which): Promise<string[]> {
  return begin(corpus, which, { method: 'DELETE' })
}

/** Begins the jobs that change the metadata of what is selected. */
export function changeAll(corpus: string, which: Which, metadata: Metadata, strategy: 'merge' | 'replace') {
  return begin(corpus, which, { method: 'PATCH', body: { metadata, strategy } })
}

async function begin(corpus: string, which: Which, s: { method: 'DELETE' | 'PATCH'; body?: unknown }) {
  const jobs: string[] = []
  for (const search of selectionOf(which))
    jobs.push((await call<Started>(`${path`/v2/corpora/${corpus}/documents`}?${search}`, s)).job_id)
  return jobs
}

/** The largest file that the service takes, in bytes; undefined until it has said so. */
export function useMaxUpload(): number | undefined {
  const found = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => call<components['schemas']['Limits']>('/v2/limits', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return found.data?.max_upload_bytes
}

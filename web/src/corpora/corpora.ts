import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'

export type Corpus = components['schemas']['Corpus']

interface Page {
  corpora: Corpus[]
  metadata: { page_key?: string }
}

/** Escapes a text for a regular expression, which is what the filter of a list is. */
const literally = (s: string) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Corpora whose name or description holds a text, a page at a time. */
export function useCorpora(filter: string) {
  return useInfiniteQuery({
    queryKey: ['corpora', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      call<Page>('/v2/corpora', {
        query: { limit: 50, page_key: pageParam || undefined, filter: filter ? `(?i)${literally(filter)}` : undefined },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: (last) => last.metadata.page_key,
  })
}

export function useCorpus(key: string) {
  return useQuery({
    queryKey: ['corpora', 'one', key],
    queryFn: ({ signal }) => call<Corpus>(path`/v2/corpora/${key}`, { signal }),
  })
}

export function useCreateCorpus() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: { key: string; name: string; description: string }) =>
      call<Corpus>('/v2/corpora', { method: 'POST', body }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['corpora'] }),
  })
}

/** How many documents and passages a corpus holds. */
export function sizeOf(c: Corpus): { documents: number; parts: number } {
  return { documents: c.limits?.used_docs ?? 0, parts: c.limits?.used_parts ?? 0 }
}

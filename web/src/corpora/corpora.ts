import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import { useAttempt, useChange } from '../parts/change'
import { holding } from '../parts/pattern'
import { useCaller, useMay } from '../session/caller'

export type Corpus = components['schemas']['Corpus']
export type Attribute = components['schemas']['FilterAttribute']
export type Dimension = components['schemas']['CorpusCustomDimension']
export type NewCorpus = Partial<components['schemas']['CreateCorpusRequest']> & { key: string }
export type Statistics = components['schemas']['FilterAttributeStat']

interface Page {
  corpora: Corpus[]
  metadata: { page_key?: string }
}

/** Corpora whose name or description holds a text, a page at a time, for whoever may list them. */
export function useCorpora(filter: string) {
  const caller = useCaller()
  const may = useMay()
  return useInfiniteQuery({
    enabled: caller.isError || may('listCorpora'),
    queryKey: ['corpora', 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      call<Page>('/v2/corpora', {
        query: { limit: 50, page_key: pageParam || undefined, filter: holding(filter) },
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

/** How often which values of the attributes occur, where a filter selects. */
export function useStatistics(key: string, filter: string) {
  return useQuery({
    queryKey: ['corpora', 'statistics', key, filter],
    queryFn: ({ signal }) =>
      call<{ filter_attribute_stats: Statistics[] }>(path`/v2/corpora/${key}/filter_attribute_stats`, {
        query: { max_values: 20, metadata_filter: filter || undefined },
        signal,
      }),
    retry: false,
  })
}

export const useCreateCorpus = () =>
  useChange('corpora', (body: NewCorpus) => call<Corpus>('/v2/corpora', { method: 'POST', body }))

export const useUpdateCorpus = (key: string) =>
  useChange('corpora', (body: components['schemas']['UpdateCorpusRequest']) =>
    call<Corpus>(path`/v2/corpora/${key}`, { method: 'PATCH', body }),
  )

/** Deletes a corpus. Only lists are read anew: the page that still shows the corpus would find that it is missing. */
export function useDeleteCorpus(key: string) {
  const queries = useQueryClient()
  return useAttempt({
    mutationFn: () => call(path`/v2/corpora/${key}`, { method: 'DELETE' }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['corpora', 'list'] }),
  })
}

export const useResetCorpus = (key: string) =>
  useChange('corpora', (_: undefined) => call(path`/v2/corpora/${key}/reset`, { method: 'POST' }))

/** Replaces the attributes by a job, whose id it returns. */
export const useReplaceAttributes = (key: string) =>
  useChange('corpora', (filter_attributes: Attribute[]) =>
    call<{ job_id: string }>(path`/v2/corpora/${key}/replace_filter_attributes`, {
      method: 'POST',
      body: { filter_attributes },
    }),
  )

/** How many documents and passages a corpus holds. */
export function sizeOf(c: Corpus): { documents: number; parts: number } {
  return { documents: c.limits?.used_docs ?? 0, parts: c.limits?.used_parts ?? 0 }
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { call } from '../api/call'
import { Failure } from '../api/failure'
import type { components } from '../api/schema'
import { endTag, startTag } from './passage'
import { bodyOf, type Settings } from './settings'

export type Answer = components['schemas']['QueryFullResponse']

/** Searches as the settings say, and asks what each score is made of. */
export function useSearch(query: string, settings: Settings | undefined, missing: string) {
  const body = settings && {
    ...bodyOf(query, { ...settings, context: tagged(settings.context) }),
    explain: missing ? { document_id: missing } : true,
  }
  return useQuery({
    queryKey: ['lab', body],
    queryFn: ({ signal }) => call<Answer>('/v2/query', { method: 'POST', body, signal }),
    enabled: Boolean(query && settings?.corpora.length),
    placeholderData: keepPreviousData,
    retry: (failures, error) => error instanceof Failure && error.passing && failures < 2,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** Returns a context with tags around the match, so that it can be told from what stands around it. */
function tagged(c: Settings['context']): Settings['context'] {
  return c.start && c.end ? c : { ...c, start: startTag, end: endTag }
}

/** Returns the tags that a search was made with. */
export function tagsOf(s: Settings): { start: string; end: string } {
  const { start, end } = tagged(s.context)
  return { start: start ?? '', end: end ?? '' }
}

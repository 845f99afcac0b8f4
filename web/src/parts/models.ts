import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call'
import type { components } from '../api/schema'

/** The language models that can be used, the default one first. */
export function useModels() {
  return useQuery({
    queryKey: ['models'],
    queryFn: async ({ signal }) => {
      const found = await call<{ llms?: components['schemas']['LLM'][] }>('/v2/llms', { query: { limit: 100 }, signal })
      return (found.llms ?? [])
        .filter((m) => m.enabled !== false)
        .sort((a, b) => Number(b.default ?? false) - Number(a.default ?? false))
    },
  })
}

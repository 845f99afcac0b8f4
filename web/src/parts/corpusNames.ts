import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call'

interface Named {
  key: string
  name: string
}

/** The first hundred corpora, newest first, by key and name: enough to choose from. */
export function useAllCorpora() {
  return useQuery({
    queryKey: ['corpora', 'names'],
    queryFn: async ({ signal }) =>
      (await call<{ corpora: Named[] }>('/v2/corpora', { query: { limit: 100 }, signal })).corpora.map(
        ({ key, name }) => ({
          key,
          name: name || key,
        }),
      ),
  })
}

import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call'
import { useCaller, useMay } from '../session/caller'

interface Named {
  key: string
  name: string
}

/** The first hundred corpora, newest first, by key and name: enough to choose from. Whoever may not list them has those of the key. */
export function useAllCorpora() {
  const lists = useMay()('listCorpora')
  const { data: caller } = useCaller()
  return useQuery({
    queryKey: ['corpora', 'names', lists],
    queryFn: async ({ signal }): Promise<Named[]> => {
      if (!lists) {
        const own = Object.values(caller?.api_policy.allowed_operations.query?.allowed_resources ?? {}).flat()
        return own.map((key) => ({ key, name: key }))
      }
      const page = await call<{ corpora: Named[] }>('/v2/corpora', { query: { limit: 100 }, signal })
      return page.corpora.map(({ key, name }) => ({ key, name: name || key }))
    },
    enabled: caller !== undefined,
  })
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { call } from '../api/call'
import { useCaller, useMay } from '../session/caller'
import { holding } from './pattern'

export interface Named {
  key: string
  name: string
}

/** How many corpora are named at once. Those beyond them are found by what is typed. */
export const named = 20

/** The newest corpora whose name, description or key holds a text, by key and name. Whoever may not list them has those of the key. */
export function useCorpora(typed = '') {
  const lists = useMay()('listCorpora')
  const { data: caller } = useCaller()
  const sought = useDeferredValue(typed.trim())
  return useQuery({
    queryKey: ['corpora', 'names', lists, sought],
    queryFn: async ({ signal }): Promise<Named[]> => {
      if (!lists) {
        const own = Object.values(caller?.api_policy.allowed_operations.query?.allowed_resources ?? {}).flat()
        const held = own.filter((key) => key.toLowerCase().includes(sought.toLowerCase()))
        return held.slice(0, named).map((key) => ({ key, name: key }))
      }
      const page = await call<{ corpora: Named[] }>('/v2/corpora', {
        query: { limit: named, filter: holding(sought) },
        signal,
      })
      return page.corpora.map(({ key, name }) => ({ key, name: name || key }))
    },
    enabled: caller !== undefined,
    placeholderData: keepPreviousData,
  })
}

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'
import { call, path } from '../api/call'
import { Failure } from '../api/failure'
import { useCaller, useMay } from '../session/caller'
import { holding } from './pattern'

export interface Named {
  key: string
  name: string
}

/** How many corpora are named at once. Those beyond them are found by what is typed. */
export const named = 20

/** Waits a little, so that a key is asked for once nobody types any more. */
const rest = (signal: AbortSignal) =>
  new Promise<void>((go, stop) => {
    const after = setTimeout(go, 300)
    signal.addEventListener('abort', () => {
      clearTimeout(after)
      stop(signal.reason)
    })
  })

/** Returns the corpus of a key, if there is one: the filter of the list looks into names and descriptions alone. */
async function keyed(sought: string, signal: AbortSignal): Promise<Named[]> {
  if (!/^[\w=-]{1,50}$/.test(sought)) return []
  await rest(signal)
  try {
    const { key, name } = await call<Named>(path`/v2/corpora/${sought}`, { signal })
    return [{ key, name: name || key }]
  } catch (e) {
    if (e instanceof Failure && e.status === 404) return []
    throw e
  }
}

/**
 * The newest corpora whose name or description holds a text, by key and name; where there is none, that of this key, unless
 * something else was meant. Whoever may not list them has those of the key.
 */
export function useCorpora(typed = '', byKey = true) {
  const lists = useMay()('listCorpora')
  const { data: caller } = useCaller()
  const sought = useDeferredValue(typed.trim())
  return useQuery({
    queryKey: ['corpora', 'names', lists, sought, byKey],
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
      const found = page.corpora.map(({ key, name }) => ({ key, name: name || key }))
      return found.length > 0 || !byKey ? found : await keyed(sought, signal)
    },
    enabled: caller !== undefined,
    placeholderData: keepPreviousData,
  })
}

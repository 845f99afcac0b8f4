import { useCallback, useMemo } from 'react'
import { navigate, useSearch } from 'wouter/use-browser-location'

type Init = ConstructorParameters<typeof URLSearchParams>[0]
type Set = (next: Init | ((before: URLSearchParams) => Init), how?: { replace?: boolean }) => void

/**
 * Returns the parameters of the address, and a function that replaces them. The router's own decodes path and parameters once
 * more than they were encoded, so that a text such as 100%25 becomes another one; here both stay as the browser has them.
 */
export function useSearchParams(): [URLSearchParams, Set] {
  const search = useSearch()
  const set = useCallback<Set>((next, how) => {
    const init = typeof next === 'function' ? next(new URLSearchParams(location.search)) : next
    const to = new URLSearchParams(init).toString()
    navigate(location.pathname + (to && `?${to}`), how)
  }, [])
  return [useMemo(() => new URLSearchParams(search), [search]), set]
}

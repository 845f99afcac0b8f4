import { useSearchParams } from '../parts/searchParams'

/** The filters of a list, by name, which the address holds. */
export function useFilters<N extends string>(
  names: readonly N[],
): [Record<N, string>, (part: Partial<Record<N, string>>) => void] {
  const [search, setSearch] = useSearchParams()
  const now = Object.fromEntries(names.map((n) => [n, search.get(n) ?? ''])) as Record<N, string>
  const change = (part: Partial<Record<N, string>>) => {
    const next = Object.entries<string>({ ...now, ...part }).filter(([, value]) => value)
    setSearch(Object.fromEntries(next), { replace: true })
  }
  return [now, change]
}

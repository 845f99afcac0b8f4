import { useMutation, useQueryClient } from '@tanstack/react-query'

/** Runs a change; what is shown under a key is then read anew. */
export function useChange<In, Out>(key: string, run: (input: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: run, onSuccess: () => queries.invalidateQueries({ queryKey: [key] }) })
}

/** Returns the members that somebody has changed: what others changed meanwhile stays. */
export function differing<T extends object>(before: T, after: T): Partial<T> {
  const kept = (name: string) => JSON.stringify(before[name as keyof T])
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== kept(name)),
  ) as Partial<T>
}

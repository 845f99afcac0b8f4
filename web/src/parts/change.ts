import { useMutation, useQueryClient } from '@tanstack/react-query'

/** Runs a change; what is shown under a key is then read anew. */
export function useChange<In, Out>(key: string, run: (input: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: run, onSuccess: () => queries.invalidateQueries({ queryKey: [key] }) })
}

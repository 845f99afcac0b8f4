import { type UseMutationOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'

/**
 * Runs something that changes what the service holds. The error of a failed attempt stays while the next one is under way: what
 * stands below its message would otherwise jump twice.
 */
export function useAttempt<In, Out>(options: UseMutationOptions<Out, Error, In>) {
  const attempt = useMutation(options)
  const last = useRef<Error | null>(null)
  if (!attempt.isPending) last.current = attempt.error
  return { ...attempt, error: last.current }
}

/** Runs a change; what is shown under a key is then read anew. */
export function useChange<In, Out>(key: string, run: (input: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useAttempt({ mutationFn: run, onSuccess: () => queries.invalidateQueries({ queryKey: [key] }) })
}

/** Returns the members that somebody has changed: what others changed meanwhile stays. */
export function differing<T extends object>(before: T, after: T): Partial<T> {
  const kept = (name: string) => JSON.stringify(before[name as keyof T])
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== kept(name)),
  ) as Partial<T>
}

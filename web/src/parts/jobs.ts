import { queryOptions, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { call, path } from '../api/call'
import type { components } from '../api/schema'

export type Job = components['schemas']['Job']

// The jobs that this visit has started, the last first, so that whoever looks at something else meanwhile finds them.
let started: string[] = []
const listeners = new Set<() => void>()

/** Notes a job that the page has started. */
export function jobStarted(id: string) {
  started = [id, ...started.filter((one) => one !== id)]
  for (const listener of listeners) listener()
}

export function useStartedJobs(): string[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => started,
  )
}

/** Reports whether nothing more happens to a job. */
export function jobEnded(job: Job): boolean {
  return job.state === 'completed' || job.state === 'failed' || job.state === 'aborted'
}

/** Reads a job again each second until it has ended. */
const watching = (id: string) =>
  queryOptions({
    queryKey: ['jobs', id],
    queryFn: ({ signal }) => call<Job>(path`/v2/jobs/${id}`, { signal }),
    refetchInterval: ({ state }) => (state.data && jobEnded(state.data) ? false : 1000),
  })

/** Jobs as far as they are known, watched until they have ended. */
export function useJobs(ids: string[]): (Job | undefined)[] {
  return useQueries({ queries: ids.map(watching) }).map((q) => q.data)
}

/** A job, watched until it has ended; what it changed is then read anew. */
export function useJob(id: string) {
  const queries = useQueryClient()
  const found = useQuery(watching(id))
  const ended = found.data && jobEnded(found.data)
  useEffect(() => {
    if (ended) void queries.invalidateQueries({ queryKey: ['corpora'] })
  }, [ended, queries])
  return found
}

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call'
import type { components } from '../api/schema'

/** Whom the credential of this tab belongs to, and what they may do now. */
export type Caller = components['schemas']['Caller']

export function useCaller() {
  return useQuery({ queryKey: ['caller'], queryFn: ({ signal }) => call<Caller>('/v2/caller', { signal }) })
}

/**
 * Returns whether the caller may run an operation, on a corpus where it is about one. Until the service has said so the
 * answer is no, so that nothing is offered that is then taken away.
 */
export function useMay(): (operation: string, corpus?: string) => boolean {
  const { data } = useCaller()
  return (operation, corpus) => {
    const allowed = data?.api_policy.allowed_operations[operation]
    if (!allowed) return false
    if (allowed.allow_any_resource !== false && !allowed.allowed_resources) return true
    if (allowed.allow_any_resource) return true
    if (corpus === undefined) return true
    return Object.values(allowed.allowed_resources ?? {}).some((keys) => keys.includes(corpus))
  }
}

/**
 * Returns whether something is allowed, or was when the view was opened. A form stays where its role is taken away
 * meanwhile, so that nothing typed is lost; the service refuses it with its reason.
 */
export function useStill(allowed: boolean): boolean {
  const [was, note] = useState(allowed)
  if (allowed && !was) note(true)
  return allowed || was
}

import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call'

/** What an operation is allowed on: everything, or the resources by their place in the request. */
interface Allowed {
  allow_any_resource?: boolean
  allowed_resources?: Record<string, string[]>
}

/** Whom the credential of this tab belongs to, and what they may do now. */
export interface Caller {
  type: 'user' | 'api_key' | 'app_client'
  id: string
  name: string
  email?: string
  api_roles: string[]
  corpus_roles: { role: string; corpus_key: string }[]
  agent_roles: { role: string; agent_key: string }[]
  groups: string[]
  api_policy: { name: string; allowed_operations: Record<string, Allowed> }
  expires_at?: string
}

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

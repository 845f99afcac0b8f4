import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import { useAttempt } from '../parts/change'

type Schemas = components['schemas']

export type ApiKey = Schemas['ApiKey']
export type User = Schemas['User']
export type AppClient = Schemas['AppClient']
export type AuditEvent = Schemas['AuditEvent']
export type Policy = Schemas['ApiPolicy']
export type ApiRole = Schemas['ApiRole']
export type CorpusRole = Schemas['CorpusRole']
export type NewPerson = Schemas['CreateUserResponse']
export type PasswordLink = Schemas['ResetPasswordResponse']

/** The roles that keys, people and clients have alike. */
export interface Rights {
  api_roles: ApiRole[]
  corpus_roles: CorpusRole[]
}

/** Returns the roles of a key, person or client. */
export const rightsOf = (of: Partial<Rights>): Rights => ({
  api_roles: of.api_roles ?? [],
  corpus_roles: of.corpus_roles ?? [],
})

interface Listed {
  metadata: { page_key?: string }
}

/** A list read a page at a time. Its pages hold no secrets: the service masks those of keys and clients. */
function usePages<P extends Listed>(kind: string, to: string, query: Record<string, string | undefined>, size: number) {
  return useInfiniteQuery({
    queryKey: ['access', kind, 'list', query],
    queryFn: ({ pageParam, signal }) =>
      call<P>(to, { query: { ...query, limit: size, page_key: pageParam || undefined }, signal }),
    initialPageParam: '',
    getNextPageParam: (last: P) => last.metadata.page_key || undefined,
  })
}

export const useKeys = (query: { corpus_key?: string; api_key_role?: string }) =>
  usePages<Listed & { api_keys: ApiKey[] }>('keys', '/v2/api_keys', query, 50)

export const usePeople = (query: { corpus_key?: string }) =>
  usePages<Listed & { users: User[] }>('people', '/v2/users', query, 50)

export const useClients = (query: { filter?: string }) =>
  usePages<Listed & { app_clients: AppClient[] }>('clients', '/v2/app_clients', query, 50)

export const useAudit = (query: { actor?: string; action?: string; after?: string; before?: string }) =>
  usePages<Listed & { audit_events: AuditEvent[] }>('audit', '/v2/audit_events', query, 50)

/** The addresses of one key, person or client. */
export const at = {
  key: (id: string) => path`/v2/api_keys/${id}`,
  person: (name: string) => path`/v2/users/${name}`,
  client: (id: string) => path`/v2/app_clients/${id}`,
}

export function useOne<T>(address: string) {
  return useQuery({ queryKey: ['access', 'one', address], queryFn: ({ signal }) => call<T>(address, { signal }) })
}

/** Reads lists and objects anew after a change; also what the caller may do, which may be what has changed. */
export function useRefresh(): (gone?: string) => Promise<unknown> {
  const queries = useQueryClient()
  return (gone) => {
    if (gone) queries.removeQueries({ queryKey: ['access', 'one', gone] })
    void queries.invalidateQueries({ queryKey: ['caller'] })
    return queries.invalidateQueries({ queryKey: ['access'] })
  }
}

/** Changes one object, which is then read anew. */
export function useUpdate<T>(address: string) {
  const refresh = useRefresh()
  return useAttempt({
    mutationFn: (body: object) => call<T>(address, { method: 'PATCH', body }),
    onSuccess: () => refresh(),
  })
}

export const remove = (address: string) => call(address, { method: 'DELETE' })

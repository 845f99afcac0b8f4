import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import type { Question } from '../parts/answer/answer'
import type { Generation } from '../parts/answer/knobs'
import { useAttempt, useChange } from '../parts/change'

export type Chat = components['schemas']['Chat']
export type Turn = components['schemas']['Turn']

interface Page {
  chats: Chat[]
  metadata: { page_key?: string }
}

/** Chats, newest first, a page at a time. */
export function useChats() {
  return useInfiniteQuery({
    queryKey: ['chats', 'list'],
    queryFn: ({ pageParam, signal }) =>
      call<Page>('/v2/chats', { query: { limit: 50, page_key: pageParam || undefined }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.metadata.page_key,
  })
}

/** The turns of a chat, oldest first; those of one that is not there yet are pending. */
export function useTurns(chat: string) {
  return useQuery({
    queryKey: ['chats', 'turns', chat],
    queryFn: ({ signal }) => call<{ turns: Turn[] }>(path`/v2/chats/${chat}/turns`, { signal }),
    enabled: chat !== '',
  })
}

/** The corpora that a chat has searched, as far as the history of queries knows: a chat does not remember them. */
export function useSearched(chat: string) {
  return useQuery({
    queryKey: ['chats', 'searched', chat],
    enabled: chat !== '',
    queryFn: async ({ signal }) => {
      const found = await call<{ queries: { id: string }[] }>('/v2/queries', {
        query: { chat_id: chat, limit: 1 },
        signal,
      })
      const last = found.queries[0]
      if (!last) return []
      const record = await call<{ query: { search?: { corpora?: { corpus_key: string }[] } } }>(
        path`/v2/queries/${last.id}`,
        { signal },
      )
      return (record.query.search?.corpora ?? []).map((c) => c.corpus_key)
    },
  })
}

/** Returns a question that opens a chat, or goes on with one. */
export function questionOf(chat: string, corpora: string[], query: string, generation: Generation): Question {
  return {
    path: chat ? path`/v2/chats/${chat}/turns` : '/v2/chats',
    body: {
      query,
      generation,
      search: {
        corpora: corpora.map((corpus_key) => ({ corpus_key })),
        limit: 10,
        context_configuration: { sentences_before: 1, sentences_after: 1 },
      },
    },
  }
}

/** Disables a turn and every later one. */
export const useDisableTurn = (chat: string) =>
  useChange('chats', (turn: string) =>
    call(path`/v2/chats/${chat}/turns/${turn}`, { method: 'PATCH', body: { enabled: false } }),
  )

/** Deletes a turn and every later one. */
export const useDeleteTurn = (chat: string) =>
  useChange('chats', (turn: string) => call(path`/v2/chats/${chat}/turns/${turn}`, { method: 'DELETE' }))

/** Deletes a chat. Only the list is read anew, not the turns of what is gone. */
export function useDeleteChat() {
  const queries = useQueryClient()
  return useAttempt({
    mutationFn: (chat: string) => call(path`/v2/chats/${chat}`, { method: 'DELETE' }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['chats', 'list'] }),
  })
}

import { expect, test } from 'vitest'
import type { AuditEvent } from './access'
import { changesOf } from './changed'

function event(action: string, username: string, changes?: Record<string, unknown>, outcome = 'succeeded'): AuditEvent {
  return {
    id: 'x',
    created_at: '',
    actor: { type: 'user' },
    action,
    target: { username },
    changes,
    outcome,
    request_id: '',
  } as AuditEvent
}

test('what a member was before is told by the last event that set it', () => {
  const earlier = [
    event('updateUser', 'ann', { api_roles: ['owner'] }, 'refused'),
    event('updateUser', 'bob', { api_roles: ['administrator'] }),
    event('updateUser', 'ann', { enabled: false }),
    event('createUser', 'ann', { api_roles: ['viewer'], enabled: true }),
  ]
  expect(changesOf(event('updateUser', 'ann', { api_roles: [], enabled: true, description: 'x' }), earlier)).toEqual([
    { name: 'api_roles', before: 'viewer', after: '–' },
    { name: 'enabled', before: 'false', after: 'true' },
    { name: 'description', after: 'x' },
  ])
})

test('an object of the same name that was deleted tells nothing', () => {
  const earlier = [event('deleteUser', 'ann'), event('createUser', 'ann', { description: 'old' })]
  expect(changesOf(event('updateUser', 'ann', { description: 'new' }), earlier)).toEqual([
    { name: 'description', after: 'new' },
  ])
  expect(changesOf(event('deleteUser', 'ann'), [])).toEqual([])
})

test('roles are written in words, other lists as they are sent', () => {
  const made = event('createUser', 'ann', { corpus_roles: [{ corpus_key: 'a', role: 'editor' }], x: [1, 'b'], y: null })
  expect(changesOf(made, []).map((c) => c.after)).toEqual(['editor of a', '[1,"b"]', 'null'])
})

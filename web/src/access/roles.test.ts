import { expect, test } from 'vitest'
import { givable, givableOn, holds, seesAllKeys } from './roles'

test('a role holds those that it includes, also by others', () => {
  expect(holds(['owner'], 'corpus_viewer')).toBe(true)
  expect(holds(['administrator'], 'owner')).toBe(false)
  expect(holds(['viewer'], 'corpus_developer')).toBe(false)
  expect(holds([], 'viewer')).toBe(false)
})

test('nobody can give more than they hold', () => {
  expect(givable({ api_roles: ['owner'] })[0]).toBe('owner')
  expect(givable({ api_roles: ['administrator'] })).not.toContain('owner')
  expect(givable({ api_roles: ['viewer'] })).toEqual(['corpus_viewer', 'viewer'])
  expect(givable({ api_roles: [] })).toEqual([])
})

test('on a corpus counts what is held there, and what is held on all', () => {
  const on = (role: 'viewer' | 'editor' | 'administrator' | 'owner') => [{ corpus_key: 'a', role }]
  expect(givableOn({ api_roles: ['corpus_viewer'], corpus_roles: on('editor') }, 'a')).toEqual(['viewer', 'editor'])
  expect(givableOn({ api_roles: ['corpus_viewer'], corpus_roles: on('editor') }, 'b')).toEqual(['viewer'])
  expect(givableOn({ api_roles: ['corpus_administrator'], corpus_roles: [] }, 'b')).toHaveLength(4)
  expect(givableOn({ api_roles: [], corpus_roles: on('owner') }, 'a')).toHaveLength(4)
  expect(givableOn({ api_roles: [], corpus_roles: [] }, 'a')).toEqual([])
})

test('the keys of others are for administrators of corpora', () => {
  expect(seesAllKeys({ api_roles: ['administrator'] })).toBe(true)
  expect(seesAllKeys({ api_roles: ['corpus_developer', 'viewer'] })).toBe(false)
})

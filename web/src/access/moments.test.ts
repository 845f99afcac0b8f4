import { expect, test } from 'vitest'
import { localOf, momentOf } from './moments'

test('a moment that a field shows is the moment that it means', () => {
  for (const at of ['2026-03-02T09:30:05.000Z', '2025-12-31T23:59:59.000Z']) expect(momentOf(localOf(at))).toBe(at)
  expect(localOf(momentOf('2026-07-01T00:00'))).toBe('2026-07-01T00:00:00')
})

test('what is no moment is none', () => {
  for (const bad of ['', 'soon', '2026-13-01']) {
    expect(momentOf(bad)).toBe('')
    expect(localOf(bad)).toBe('')
  }
})

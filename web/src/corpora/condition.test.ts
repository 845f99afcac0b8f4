import { expect, test } from 'vitest'
import { conditionOf, joined } from './condition'

test.each([
  ['text', "O'Neil", "doc.x = 'O''Neil'"],
  ['integer', 3, 'doc.x = 3'],
  ['boolean', true, 'doc.x = true'],
  ['list[text]', 'a', "'a' IN doc.x"],
] as const)('the condition of a %s', (type, value, want) => {
  expect(conditionOf('doc.x', type, value)).toBe(want)
})

test('conditions join once', () => {
  expect(joined('', 'a = 1')).toBe('a = 1')
  expect(joined('a = 1', 'b = 2')).toBe('a = 1 AND b = 2')
  expect(joined('a = 1 AND b = 2', 'a = 1')).toBe('a = 1 AND b = 2')
})

import { expect, test } from 'vitest'
import { editOf, foreign, inKind, newRow, rowsOf, same, sorted } from './metadata'

const stored = {
  title: 'T',
  year: 2024,
  share: 0.1,
  open: true,
  tags: ['a', 'b'],
  sizes: [1, 2.5],
  mixed: ['a', 1],
  empty: [],
  more: { b: 1, a: null },
  large: 2 ** 63,
  '': 'x',
}

test('what nobody touched is not changed', () => {
  expect(editOf(stored, rowsOf(stored))).toEqual({ changes: {}, bad: {} })
})

test.each([
  ['text', ' 5 ', ' 5 '],
  ['number', '-2.5e3', -2500],
  ['boolean', 'true', true],
  ['texts', 'a\n\n b', ['a', ' b']],
  ['numbers', '1\n2', [1, 2]],
  ['json', '{"a":[1]}', { a: [1] }],
] as const)('a %s is sent as one', (kind, text, want) => {
  expect(editOf({}, [{ ...newRow(), key: 'k', kind, text }]).changes).toEqual({ k: want })
})

test.each([
  ['number', ''],
  ['number', '1,000'],
  ['number', 'Infinity'],
  ['number', '9007199254740993'],
  ['numbers', '1\nx'],
  ['json', '{'],
  ['json', 'null'],
] as const)('a %s of %s is refused', (kind, text) => {
  const row = { ...newRow(), key: 'k', kind, text }
  const { changes, bad } = editOf({}, [row])
  expect(changes).toEqual({})
  expect(bad[row.id]).toBeTruthy()
})

test('a removed row is null, a renamed one is both, and a key can’t stand twice', () => {
  const rows = rowsOf({ a: 1, b: 2 }).slice(0, 1)
  expect(editOf({ a: 1, b: 2 }, rows).changes).toEqual({ b: null })
  const renamed = rows.map((r) => ({ ...r, key: '__proto__' }))
  expect(Object.entries(editOf({ a: 1, b: 2 }, renamed).changes)).toEqual([
    ['__proto__', 1],
    ['a', null],
    ['b', null],
  ])
  const twice = [...rows, { ...newRow(), key: 'a' }]
  expect(editOf({ a: 1 }, twice).bad[twice[1]?.id ?? 0]).toContain('twice')
})

test('the same value in another kind is a change only where it becomes another value', () => {
  const rows = rowsOf({ a: 1 }).map((r) => inKind(r, 'text'))
  expect(editOf({ a: 1 }, rows).changes).toEqual({ a: '1' })
})

test('the order of members is no difference', () => {
  expect(same({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 })).toBe(true)
  expect(same([1, 2], [2, 1])).toBe(false)
})

test('what somebody else changed is listed', () => {
  expect(foreign({ a: 1, b: 2 }, { b: 3, c: 4 })).toEqual([
    { key: 'a', before: 1, now: undefined },
    { key: 'b', before: 2, now: 3 },
    { key: 'c', before: undefined, now: 4 },
  ])
})

test('complaints go to the row with the longest key that they begin with', () => {
  const rows = rowsOf({ a: 1, 'a.b': 2 })
  const [bad, other] = sorted({ 'body.metadata.a.b': 'wrong', 'body.metadata.a[0]': 'bad' }, rows)
  expect(bad).toEqual({ [rows[1]?.id ?? 0]: 'wrong', [rows[0]?.id ?? 0]: 'bad' })
  expect(other).toBe(false)
  expect(sorted({ 'body.metadata': 'too large' }, rows)[1]).toBe(true)
})

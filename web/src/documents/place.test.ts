import { expect, test } from 'vitest'
import { placeOf } from './place'

test.each([
  ['doc.year >= and', 'Syntax error at 1:12 expected a value, found "and"', ['doc.year >= ', 'and', '']],
  ['doc.year >=', 'Syntax error at 1:11 expected a value, found the end of the expression', ['doc.year >=', '', '']],
  ["doc.a = '𝒳' §", 'Syntax error at 1:12 …', ["doc.a = '𝒳' ", '§', '']],
  ['doc.yeer = 2', 'Unrecognized references: doc.yeer', ['', 'doc.yeer', ' = 2']],
  ['doc.year = 2', 'Syntax error at 9:99 …', ['doc.year = 2', '', '']],
])('the place in %s', (filter, message, want) => {
  const { before, at, after } = placeOf(filter, message) ?? {}
  expect([before, at, after]).toEqual(want)
})

test('a message about no place has none', () => {
  expect(placeOf('doc.year = 2', 'The filter is too long.')).toBeUndefined()
})

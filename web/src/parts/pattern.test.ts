import { expect, test } from 'vitest'
import { holding } from './pattern'

test.each([
  ['', undefined],
  ['pump', '(?i)pump'],
  ['a.b[1]\\(x)', '(?i)a\\.b\\[1\\]\\\\\\(x\\)'],
])('the filter for %j', (text, want) => {
  expect(holding(text)).toBe(want)
})

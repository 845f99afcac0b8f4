import { expect, test } from 'vitest'
import { closeness } from './evidence'

test.each([
  [0, 'weak'],
  [0.399, 'weak'],
  [0.4, 'fair'],
  [0.699, 'fair'],
  [0.7, 'strong'],
  [1, 'strong'],
] as const)('evidence of %d is %s', (value, want) => {
  expect(closeness(value)).toBe(want)
})

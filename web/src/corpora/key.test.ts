import { expect, test } from 'vitest'
import { keyOf } from './key'

test.each([
  ['Pump manuals', 'pump-manuals'],
  ['  Übung & Praxis! ', 'ubung-praxis'],
  ['a_b=c', 'a_b=c'],
  ['日本語', ''],
  [`${'x'.repeat(49)} y`, 'x'.repeat(49)],
])('the key of %j', (name, want) => {
  expect(keyOf(name)).toBe(want)
})

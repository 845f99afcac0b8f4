import { expect, test } from 'vitest'
import { pieces } from './marks'

test.each([
  ['plain', 3, [{ text: 'plain' }]],
  [
    'One [1]. Two [2, 3].',
    3,
    [{ text: 'One ' }, { passage: 1 }, { text: '. Two ' }, { passage: 2 }, { passage: 3 }, { text: '.' }],
  ],
  ['[4] and [0] name nothing', 3, [{ text: '[4] and [0] name nothing' }]],
  ['[link](https://x)', 3, [{ text: '[link](https://x)' }]],
  ['', 3, []],
])('the marks of %j', (answer, passages, want) => {
  expect(pieces(answer, passages)).toEqual(want)
})

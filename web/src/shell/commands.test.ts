import { expect, test } from 'vitest'
import { matching } from './commands'

const all = ['Corpora', 'Chats', 'The old corpus', 'Recordings'].map((name) => ({
  name,
  kind: '',
  run: () => undefined,
}))

test.each([
  ['', ['Corpora', 'Chats', 'The old corpus', 'Recordings']],
  [' COR', ['Corpora', 'The old corpus', 'Recordings']],
  ['zebra', []],
])('what %j finds', (typed, want) => {
  expect(matching(all, typed).map((c) => c.name)).toEqual(want)
})

test('a key finds its corpus', () => {
  expect(matching([{ name: 'Übungen', also: 'ubungen', kind: '', run: () => undefined }], 'ubu')).toHaveLength(1)
})

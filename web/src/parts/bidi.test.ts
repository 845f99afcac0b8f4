import { expect, test } from 'vitest'
import { closed, isolated } from './bidi'

test.each([
  ['plain text stays', 'Pump é \u05d0', 'Pump é \u05d0'],
  ['what is closed stays', '\u2067a\u202eb\u202c\u2069', '\u2067a\u202eb\u202c\u2069'],
  ['an isolate', 'a\u2066b', 'a\u2066b\u2069'],
  ['an override', 'a\u202eb', 'a\u202eb\u202c'],
  ['the innermost first', '\u202ea\u2066b\u202dc', '\u202ea\u2066b\u202dc\u202c\u2069\u202c'],
  ['the end of an isolate ends what is in it', '\u2068a\u202eb\u2069c', '\u2068a\u202eb\u2069c'],
  ['ends without a beginning go', 'a\u2069b\u202cc', 'abc'],
  ['an embedding is not ended from within an isolate', '\u202ea\u2066b\u202cc', '\u202ea\u2066bc\u2069\u202c'],
  ['ends of a paragraph', 'a\u2029\u202eb', 'a \u202eb\u202c'],
])('%s', (_, text, want) => {
  expect(closed(text)).toBe(want)
  expect(closed(want)).toBe(want)
})

test('a name in a sentence is isolated where it turns anything', () => {
  expect(isolated('Pump')).toBe('Pump')
  expect(isolated('a\u202eb')).toBe('\u2068a\u202eb\u202c\u2069')
})

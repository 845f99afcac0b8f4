import { expect, test } from 'vitest'
import { addressOf, idIn } from './address'
import { selectionOf } from './selection'

test('ids are repeated, so that a comma within one does not cut it', () => {
  expect(selectionOf({ ids: ['a,b', 'c&d=e'] })).toEqual(['document_ids=a%2Cb&document_ids=c%26d%3De&document_ids='])
})

test('many ids become several requests that name each once', () => {
  const ids = Array.from({ length: 1000 }, (_, i) => `folder/document-${i}`)
  const parts = selectionOf({ ids })
  expect(parts.length).toBeGreaterThan(1)
  for (const part of parts) expect(part.length).toBeLessThan(6100)
  const sent = parts.flatMap((p) => new URLSearchParams(p).getAll('document_ids').filter(Boolean))
  expect(sent).toEqual(ids)
})

test('a filter is sent as it is', () => {
  expect(selectionOf({ filter: "doc.a = 'x&y'" })).toEqual(["metadata_filter=doc.a%20%3D%20'x%26y'"])
})

test.each(['a/b.md', 'a%2Fb', '100 %', '#?&', '日本', '<img src=x>', 'a\nb'])('the address of %s leads to it', (id) => {
  const at = new URL(`http://x/console/corpora/k${addressOf(id)}`)
  expect(idIn(at.pathname)).toBe(id)
})

test('an address with its slashes as they are leads to the document too', () => {
  expect(idIn('/console/corpora/k/documents/a/b.md')).toBe('a/b.md')
})

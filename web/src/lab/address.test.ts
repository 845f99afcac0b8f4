import { expect, test } from 'vitest'
import { type Experiment, read, write } from './address'
import { bodyOf, nothingSet, type Settings, searched, settingsOf } from './settings'

const all: Settings = {
  corpora: [
    {
      key: 'manuals',
      filter: "doc.year > 2020 AND doc.x = 'a&b=c'",
      lambda: 0.1,
      semantics: 'response',
      dimensions: { 'a:b': 0.5, popularity: -2 },
      query: 'pump',
    },
    searched('tickets'),
  ],
  limit: 20,
  offset: 10,
  best: true,
  context: { before: 1, after: 2, charactersBefore: 30, charactersAfter: 40, full: true, start: '<b>', end: '</b>' },
  stages: [
    { type: 'customer_reranker', name: 'm', cutoff: 0, limit: 5, context: false, instructions: 'newest' },
    { type: 'mmr', bias: 0.2 },
    { type: 'userfn', code: "get('$.score') + 1" },
    { type: 'none', limit: 3 },
  ],
  rewrite: true,
  save: false,
}

test.each<[string, Experiment]>([
  ['nothing', { query: '', missing: '', settings: nothingSet }],
  ['everything', { query: 'Wie oft? ü', missing: 'a/b c', settings: all, other: { ...all, stages: [], save: true } }],
])('an address keeps %s', (_, e) => {
  expect(read(new URLSearchParams(write(e).toString()))).toEqual(e)
})

test('an address passes over what it does not know', () => {
  expect(read(new URLSearchParams('q=x&new=1&constructor=y&filter=lost&corpus=a&rank=magic&limit=many'))).toEqual({
    query: 'x',
    missing: '',
    settings: { ...nothingSet, corpora: [searched('a')], limit: undefined },
  })
})

test('a request holds what is set, and leads back to its settings', () => {
  expect(bodyOf('q', { ...nothingSet, corpora: [searched('a')] })).toEqual({
    query: 'q',
    search: { corpora: [{ corpus_key: 'a' }] },
  })
  expect(bodyOf('q', { ...nothingSet, stages: [{ type: 'none' }] }).search.reranker).toEqual({ type: 'none' })
  expect(settingsOf(bodyOf('q', all))).toEqual(all)
})

import { expect, test } from 'vitest'
import { compare, counted, type Result } from './compare'
import { askedFor, inContext, pieces } from './passage'
import { sourceOf, steps } from './score'

const result = (document_id: string, text: string): Result => ({
  result_type: 'text',
  document_id,
  corpus_key: 'c',
  text,
})

test.each([
  ['one \u0002two\u0003 three', { before: 'one ', match: 'two', after: ' three' }],
  ['no tags', { before: '', match: 'no tags', after: '' }],
  ['\u0003only ends\u0002', { before: '', match: '\u0003only ends\u0002', after: '' }],
])('the context of %j', (text, want) => {
  expect(inContext(text)).toEqual(want)
})

test.each([
  [
    'How often are filters replaced?',
    'Replace the filter often, not its filtering.',
    ['Replace', 'filter', 'often', 'filtering'],
  ],
  ['-oil pump*', 'The oil of the pumping station', ['pumping']],
  ['Größe', 'Die GROSSE GRÖSSE, größer', ['GROSSE', 'GRÖSSE', 'größer']],
  ['the', 'the end', ['the']],
  ['ein Maß', 'Maße und ein Mast', ['Maße']],
  ['import', 'important imports', ['imports']],
  ['水', '飲む水', ['水']],
])('the words of %j in %j', (query, text, want) => {
  const all = pieces(text, askedFor(query))
  expect(all.map((p) => p.text).join('')).toBe(text)
  expect(all.filter((p) => p.marked).map((p) => p.text)).toEqual(want)
})

test('all of a long text is there', () => {
  const text = 'pump '.repeat(10_000)
  expect(pieces(text, askedFor('pump')).reduce((n, p) => n + p.text.length, 0)).toBe(text.length)
})

test('two searches become one list', () => {
  const first = { results: [result('a', 'x'), result('b', 'x'), result('c', 'x'), result('d', 'x')] }
  const second = { results: [result('c', 'y \u0002x\u0003 z'), result('a', 'x'), result('e', 'x'), result('d', 'x')] }
  const all = compare(first, second)
  expect(all.map((c) => [c.result.document_id, c.change, c.first, c.second, c.by])).toEqual([
    ['c', 'rose', 3, 1, 2],
    ['a', 'fell', 1, 2, 1],
    ['b', 'went', 2, undefined, 0],
    ['e', 'came', undefined, 3, 0],
    ['d', 'stayed', 4, 4, 0],
  ])
  expect(counted(all)).toEqual({ rose: 1, fell: 1, stayed: 1, came: 1, went: 1 })
})

test('a passage that two entries find stands twice', () => {
  const twice = { results: [result('a', 'x'), result('a', 'x')] }
  expect(compare(twice, { results: [result('a', 'x')] }).map((c) => c.change)).toEqual(['stayed', 'went'])
})

test('the steps of a score end at the score', () => {
  const {
    steps: all,
    zero,
    end,
  } = steps([
    { name: 'lexical', value: 1.5 },
    { name: 'dense', value: -2 },
    { name: 'userfn', value: 1 },
  ])
  expect([zero, end]).toEqual([25, 50])
  expect(all.map((s) => [s.total, s.from, s.to])).toEqual([
    [1.5, 25, 100],
    [-0.5, 0, 100],
    [0.5, 0, 50],
  ])
  expect(steps([]).steps).toEqual([])
})

test.each([
  ['dense', { kind: 'dense' }],
  ['dimension.pop.x', { kind: 'dimension', name: 'pop.x' }],
  ['reranker[1].mmr.relevance', { kind: 'stage', index: 1, type: 'mmr', part: 'relevance' }],
  ['reranker[0].userfn', { kind: 'stage', index: 0, type: 'userfn', part: '' }],
  ['new', { kind: 'other', name: 'new' }],
])('the part %s', (name, want) => {
  expect(sourceOf(name)).toEqual(want)
})

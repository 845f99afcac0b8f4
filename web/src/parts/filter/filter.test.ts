import { expect, test } from 'vitest'
import { type Attribute, accept, builtIn, complete, valuesWanted } from './complete'
import { marked, place } from './mark'
import { tokens } from './tokens'

const attributes: Attribute[] = [
  ...builtIn,
  { name: 'doc.line', type: 'text' },
  { name: 'doc.year', type: 'integer' },
  { name: 'doc.tags', type: 'list[text]' },
  { name: 'part.sold', type: 'boolean' },
]
const values = [
  { value: "it's", count: 3 },
  { value: 'hydraulics', count: 2 },
]

/** Completes where the bar stands. */
function at(text: string) {
  const caret = text.indexOf('|')
  const filter = text.replace('|', '')
  return { filter, completion: complete(filter, caret, attributes, values) }
}
const offered = (text: string) => at(text).completion.options.map((o) => o.insert)

test('tokens know names in quotes, doubled quotes and what is not closed', () => {
  expect(tokens(`doc."a b" <> 'it''s' AND part.x IN(1.5,'open`).map((t) => [t.kind, t.text, t.closed])).toEqual([
    ['reference', 'doc."a b"', true],
    ['sign', '<>', true],
    ['text', "'it''s'", true],
    ['word', 'AND', true],
    ['reference', 'part.x', true],
    ['word', 'IN', true],
    ['sign', '(', true],
    ['number', '1.5', true],
    ['sign', ',', true],
    ['text', "'open", false],
  ])
})

test.each([
  ['|', ['doc.id', 'part.lang', 'part.is_title', 'doc.line', 'doc.year', 'doc.tags', 'part.sold', 'NOT', '(']],
  ['ye|', ['doc.year']],
  ['doc.l|', ['doc.line']],
  ['doc.year |', ['=', '<>', 'IN', 'NOT IN', '<', '<=', '>', '>=', 'IS NULL', 'IS NOT NULL']],
  ['doc.tags |', ['IS NULL', 'IS NOT NULL']],
  ['part.sold |', ['=', '<>', 'IS NULL', 'IS NOT NULL', 'AND', 'OR']],
  ['doc.year i|', ['IN', 'IS NULL', 'IS NOT NULL']],
  ['doc.line = |', ["'it''s'", "'hydraulics'", 'doc.id', 'part.lang']],
  ["doc.line = 'hyd|", ["'hydraulics'"]],
  ["doc.line = 'hyd|raulics' AND", ["'hydraulics'"]],
  ['part.sold = |', ['true', 'false', 'part.is_title']],
  ["doc.line = 'hydraulics' |", ['AND', 'OR']],
  ["doc.line = 'hydraulics' a|", ['AND']],
  ['doc.year > 2020 AND ye|', ['doc.year']],
  ['doc.line IN |', ['(']],
  ['doc.line IN (|', ["'it''s'", "'hydraulics'"]],
  ["doc.line NOT IN ('a', |", ["'it''s'", "'hydraulics'"]],
  ["doc.line IN ('a' |", [',', ')']],
  ["doc.line IN ('a') |", ['AND', 'OR']],
  ["'a' IN |", ['doc.tags']],
  ["'a' |", ['IN', '=', '<>', '<', '<=', '>', '>=']],
  ['doc.year IS |', ['NULL', 'NOT NULL']],
  ['doc.year IS NOT |', ['NULL']],
  ['doc.year IS NOT NULL |', ['AND', 'OR']],
  ['NOT |', ['doc.id', 'part.lang', 'part.is_title', 'doc.line', 'doc.year', 'doc.tags', 'part.sold', 'NOT', '(']],
  ['(doc.year = 3 |', ['AND', 'OR']],
  ['doc.year|', []],
])('%j can go on with', (text, want) => {
  expect(offered(text)).toEqual(want)
})

test.each([
  ['ye|', 0, 'doc.year |'],
  ["doc.line = 'hyd|", 0, "doc.line = 'hydraulics' |"],
  ["doc.line = 'hyd|raulics' AND x", 0, "doc.line = 'hydraulics' |AND x"],
  ['doc.line IN |', 0, 'doc.line IN (|'],
  ["doc.line IN ('a'|", 1, "doc.line IN ('a') |"],
])('in %j option %i gives', (text, option, want) => {
  const { filter, completion } = at(text)
  const chosen = completion.options[option]
  if (!chosen) throw new Error('nothing is offered')
  const got = accept(filter, completion, chosen)
  expect(`${got.filter.slice(0, got.caret)}|${got.filter.slice(got.caret)}`).toBe(want)
})

test('values are wanted where one can stand', () => {
  expect(valuesWanted('doc.line = ', 11, attributes)).toBe('doc.line')
  expect(valuesWanted('doc.line IN (', 13, attributes)).toBe('doc.line')
  expect(valuesWanted('doc.line ', 9, attributes)).toBeUndefined()
  expect(valuesWanted('doc.other = ', 12, attributes)).toBeUndefined()
})

test.each([
  ['doc.year >> 3', 'Syntax error at 1:10 expected a value', ['>']],
  ["doc.id = 'é𝄞' and and x", 'Syntax error at 1:18 expected a value', ['and']],
  ["doc.a = 1 and\n  doc.year = 'x'", "Type error at 2:11 integer can't be compared", ['=']],
  ['doc.year =', 'Syntax error at 1:10 expected a value', ['']],
  [
    'doc.yea > 3 AND doc.x = 1 AND doc.yea < 5',
    'Unrecognized references: doc.yea, doc.x',
    ['doc.yea', 'doc.x', 'doc.yea'],
  ],
  ['doc.a = 1', 'is too long', []],
])('the mark in %j for %j', (filter, message, want) => {
  expect(marked(filter, message).map((p) => filter.slice(p.from, p.to))).toEqual(want)
})

test('the place of an error in a function', () => {
  const code = 'get(1) +\n foo(2)'
  const found = place(code, 'Syntax error at 2:1 there is no function foo')
  expect(code.slice(found?.from, found?.to)).toBe('foo')
})

import { expect, test } from 'vitest'
import { blocksOf, type Part } from './blocks'

const at = (section: number, offset: number, text: string, more = {}): Part => ({
  text,
  metadata: { section, offset, len: text.length, ...more },
})

test('sentences of a paragraph are one text, headings stand by themselves', () => {
  const parts = [
    at(0, 0, 'The title', { is_title: true }),
    at(1, 0, 'One', { is_title: true, breadcrumb: ['Above'] }),
    at(1, 0, 'A first.'),
    at(1, 9, 'A second.'),
    at(1, 20, 'A new paragraph.'),
    at(2, 37, 'Another section.'),
  ]
  const blocks = blocksOf({ id: 'a', parts })
  expect(blocks.map((b) => [b.is, b.parts.map((p) => p.n)])).toEqual([
    ['heading', [1]],
    ['heading', [2]],
    ['text', [3, 4]],
    ['text', [5]],
    ['text', [6]],
  ])
  expect(blocks.map((b) => (b.is === 'heading' ? b.depth : undefined)).slice(0, 2)).toEqual([0, 2])
})

test('parts without places are texts of their own', () => {
  expect(blocksOf({ id: 'a', parts: [{ text: 'x' }, { text: 'y', metadata: {} }] })).toHaveLength(2)
})

test('rows of a table are the table, and what no part names comes last', () => {
  const tables = [{ id: 't' }, { id: 'u' }]
  const images = [{ id: 'i', mime_type: 'image/png' }]
  const parts = [
    { text: 'a', table_id: 't' },
    { text: 'b', table_id: 't' },
    { text: 'c', table_id: 'gone' },
  ]
  expect(blocksOf({ id: 'a', parts, tables, images }).map((b) => [b.is, b.parts.length])).toEqual([
    ['table', 2],
    ['text', 1],
    ['table', 0],
    ['picture', 0],
  ])
})

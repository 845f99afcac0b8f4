import { expect, test } from 'vitest'
import { metadataOf, namesOf, writtenMetadata } from './metadata'

test('groups are read with commas between them, each once', () => {
  expect(namesOf(' staff, board ,, staff')).toEqual(['staff', 'board'])
  expect(namesOf(' ')).toEqual([])
})

test('metadata is an object, or nothing', () => {
  expect(metadataOf('{"a": [1]}')).toEqual({ value: { a: [1] } })
  expect(metadataOf('  ')).toEqual({ value: null })
  for (const bad of ['[1]', '"x"', 'null', '{', '{"a":']) expect(metadataOf(bad).bad, bad).toBeTruthy()
})

test('metadata that is written is read as it was', () => {
  expect(metadataOf(writtenMetadata({ a: { b: 1 } }))).toEqual({ value: { a: { b: 1 } } })
  expect(writtenMetadata({})).toBe('')
  expect(writtenMetadata(null)).toBe('')
})

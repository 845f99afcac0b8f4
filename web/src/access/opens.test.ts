import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { grouped, meanings, opened } from './opens'

test('what is open everywhere and on single corpora is told apart', () => {
  const told = opened({
    name: 'x',
    allowed_operations: {
      listCorpora: { allow_any_resource: true },
      queryCorpus: { allow_any_resource: false, allowed_resources: { 'path.corpus_key': ['a', 'b'] } },
      uploadFile: { allow_any_resource: false, allowed_resources: { 'path.corpus_key': ['a', 'b'] } },
      getAgent: { allow_any_resource: true },
      deleteCorpus: { allow_any_resource: false, allowed_resources: { 'path.agent_key': ['g'] } },
    },
  })
  expect(told).toHaveLength(3)
  expect(grouped(told)).toEqual([
    { corpora: undefined, what: [meanings.listCorpora] },
    { corpora: ['a', 'b'], what: [meanings.queryCorpus, meanings.uploadFile] },
  ])
  expect(opened({ name: 'x', allowed_operations: {} })).toEqual([])
})

test('only operations that are built are told of', () => {
  const contract = readFileSync(new URL('../../../api/openapi.yaml', import.meta.url), 'utf8')
  for (const id of Object.keys(meanings)) {
    const [, after = ''] = contract.split(`operationId: ${id}\n`)
    expect(after, id).not.toBe('')
    expect(after.split('operationId:')[0], id).not.toContain('x-status: planned')
  }
})

import { expect, test } from 'vitest'
import { curl, pythonCall, quarry, typescriptCall } from './calls'
import { nothingSet, type Settings, searched } from './settings'

const origin = 'http://127.0.0.1:8080'
const plain: Settings = { ...nothingSet, corpora: [searched('docs')] }
const rich: Settings = {
  corpora: [
    {
      ...searched('docs'),
      filter: "doc.line = 'it''s'",
      lambda: 0.1,
      semantics: 'response',
      dimensions: { popularity: 2 },
    },
    { ...searched('more'), query: 'other' },
  ],
  limit: 3,
  best: true,
  context: { before: 1, start: '<b>', end: '</b>' },
  stages: [
    { type: 'customer_reranker', cutoff: 0.2, context: false },
    { type: 'mmr', bias: 0.5 },
    { type: 'userfn', code: "get('$.score') * 2", limit: 5 },
  ],
  save: false,
}
const asked = (settings: Settings, missing = '') => ({ query: "what's $HOME?", missing, settings })

test('curl sends the request that the page sends', () => {
  expect(curl(asked(plain), origin).code).toBe(
    `curl -X POST 'http://127.0.0.1:8080/v2/query' -H "x-api-key: $QUARRY_API_KEY" -H 'content-type: application/json' -d '{"query":"what'\\''s $HOME?","search":{"corpora":[{"corpus_key":"docs"}]}}'`,
  )
  expect(curl(asked(plain, 'd'), origin).code).toContain('"explain":{"document_id":"d"}')
})

test('Python says everything', () => {
  const { code, lost } = pythonCall(asked(rich, 'd'), origin)
  expect(lost).toEqual([])
  expect(code).toContain(
    'from vectara import ContextConfiguration, KeyedSearchCorpus, SearchCorporaParameters, SearchReranker_Chain, SearchReranker_CustomerReranker, SearchReranker_Mmr, SearchReranker_Userfn, Vectara',
  )
  expect(code).toContain(
    'reranker=SearchReranker_Chain(rerankers=[SearchReranker_CustomerReranker(cutoff=0.2, include_context=False), SearchReranker_Mmr(diversity_bias=0.5), ',
  )
  expect(code).toContain('custom_dimensions={"popularity": 2}')
  expect(code).toContain('save_history=False')
  expect(code).toContain('"explain": {"document_id": "d"}')
})

test('TypeScript and quarry say what they can, and what they leave out', () => {
  const ts = typescriptCall(asked(rich, 'd'), origin)
  expect(ts.lost).toEqual([
    'filters',
    'lambdas',
    'own',
    'semanticses',
    'dimensionses',
    'best',
    'save',
    'stage',
    'missing',
  ])
  expect(ts.code).toContain('corpusKey: "docs,more"')
  expect(typescriptCall(asked(plain), origin).lost).toEqual([])
  const cli = quarry(asked(rich, 'd'), origin)
  expect(cli.lost).toEqual(['filters', 'lambdas', 'own', 'semantics', 'dimensions', 'best', 'tags', 'save'])
  expect(quarry(asked({ ...plain, stages: [{ type: 'none' }] }), origin)).toEqual({
    code: `quarry query --url=http://127.0.0.1:8080 --limit=10 --reranker=none --explain -- docs 'what'\\''s $HOME?'`,
    lost: [],
  })
})

// What the console writes is kept beside the tests of published clients, which run it against the service.
const kept = '../../../test/compat/testdata/console'

test.each([
  ['plain', plain],
  ['rich', rich],
] as const)('the programs of %s settings are those that are run', async (name, settings) => {
  const e = { query: 'how long does "the pump" run?', missing: name === 'rich' ? 'lost' : '', settings }
  await expect(`${curl(e, origin).code}\n`).toMatchFileSnapshot(`${kept}/${name}.sh`)
  await expect(`${pythonCall(e, origin).code}\n`).toMatchFileSnapshot(`${kept}/${name}.py`)
  await expect(`${typescriptCall(e, origin).code}\n`).toMatchFileSnapshot(`${kept}/${name}.ts`)
  await expect(`${quarry(e, origin).code}\n`).toMatchFileSnapshot(`${kept}/${name}-quarry.sh`)
})

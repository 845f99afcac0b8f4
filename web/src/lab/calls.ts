import { asCurl } from '../api/failure'
import type { Experiment } from './address'
import { bodyOf, type Searched, type Settings, type Stage } from './settings'

/** What a client has no setting for; the texts name each. */
export type Lost =
  | 'filters'
  | 'lambdas'
  | 'semantics'
  | 'semanticses'
  | 'dimensions'
  | 'dimensionses'
  | 'own'
  | 'best'
  | 'characters'
  | 'full'
  | 'tags'
  | 'rewrite'
  | 'save'
  | 'stage'
  | 'missing'

/** A query as a program, and what of it the program leaves out. */
export interface Call {
  code: string
  lost: Lost[]
  /** The commands that install what it needs, and run it. */
  run?: string
}

/** Returns the request of a query as it is sent, but for what the page adds to show more. */
export function requestOf(e: Pick<Experiment, 'query' | 'missing' | 'settings'>): object {
  return { ...bodyOf(e.query, e.settings), ...(e.missing && { explain: { document_id: e.missing } }) }
}

const shell = (s: string) => (/^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`)

export function curl(e: Experiment, origin: string): Call {
  return { code: asCurl({ method: 'POST', path: '/v2/query', body: JSON.stringify(requestOf(e)) }, origin), lost: [] }
}

/** Reports whether corpora differ in something. */
const differ = (all: Searched[], of: (c: Searched) => unknown) =>
  all.some((c) => JSON.stringify(of(c)) !== JSON.stringify(of(all[0] as Searched)))

const python = (v: unknown): string => {
  if (v === true) return 'True'
  if (v === false) return 'False'
  if (Array.isArray(v)) return `[${v.map(python).join(', ')}]`
  if (v && typeof v === 'object')
    return `{${Object.entries(v)
      .map(([k, x]) => `${python(k)}: ${python(x)}`)
      .join(', ')}}`
  // JSON writes characters beyond the first plane as two escapes only where they are broken; the rest is Python as it is.
  return JSON.stringify(v)
}

const rerankers: Record<string, string> = {
  customer_reranker: 'SearchReranker_CustomerReranker',
  mmr: 'SearchReranker_Mmr',
  userfn: 'SearchReranker_Userfn',
  chain: 'SearchReranker_Chain',
  none: 'SearchReranker_None',
}

interface Written {
  code: string
  /** The classes that it names. */
  uses: string[]
}

/** Writes an object as the call of a class of the library, its members by name. */
function construct(
  cls: string,
  members: Record<string, unknown>,
  inner: Record<string, (v: never) => Written>,
): Written {
  const uses = [cls]
  const args = Object.entries(members).map(([name, value]) => {
    const made = inner[name]?.(value as never)
    if (made) uses.push(...made.uses)
    return `${name}=${made ? made.code : python(value)}`
  })
  return { code: `${cls}(${args.join(', ')})`, uses }
}

function list(all: Written[]): Written {
  return { code: `[${all.map((w) => w.code).join(', ')}]`, uses: all.flatMap((w) => w.uses) }
}

function pythonReranker({ type, ...members }: { type: string } & Record<string, unknown>): Written {
  return construct(rerankers[type] ?? '', members, {
    rerankers: (all: { type: string }[]) => list(all.map((r) => pythonReranker({ ...r }))),
  })
}

export function pythonCall(e: Experiment, origin: string): Call {
  const { query, search, ...rest } = bodyOf(e.query, e.settings)
  const made = construct('SearchCorporaParameters', search as unknown as Record<string, unknown>, {
    corpora: (all: Record<string, unknown>[]) => list(all.map((c) => construct('KeyedSearchCorpus', c, {}))),
    context_configuration: (c: Record<string, unknown>) => construct('ContextConfiguration', c, {}),
    reranker: pythonReranker,
  })
  const options = e.missing
    ? [`request_options={"additional_body_parameters": {"explain": {"document_id": ${python(e.missing)}}}}`]
    : []
  const args = [
    `query=${python(query)}`,
    `search=${made.code}`,
    ...Object.entries(rest).map(([name, value]) => `${name}=${python(value)}`),
    ...options,
  ]
  const code = [
    'import os',
    `from vectara import ${[...new Set([...made.uses, 'Vectara'])].sort().join(', ')}`,
    'from vectara.environment import VectaraEnvironment',
    '',
    `url = ${python(origin)}`,
    'client = Vectara(api_key=os.environ["QUARRY_API_KEY"], environment=VectaraEnvironment(default=url, auth=url))',
    'answer = client.query(',
    ...args.map((a) => `    ${a},`),
    ')',
    'for result in answer.search_results:',
    '    print(f"{result.score:.3f}  {result.document_id}  {result.text}")',
    ...(e.missing ? ['print(answer.absent_document)'] : []),
  ].join('\n')
  return { code, lost: [], run: 'pip install vectara==0.4.3 && python query.py' }
}

/** Returns what all corpora have in common; a setting of some alone would be wrong for the others. */
const shared = <T>(all: Searched[], of: (c: Searched) => T): T | undefined =>
  all[0] && !differ(all, of) ? of(all[0]) : undefined

/** What clients lose that have one setting for all corpora. */
function lostOfCorpora(s: Settings): Lost[] {
  const out: Lost[] = []
  if (differ(s.corpora, (c) => c.filter)) out.push('filters')
  if (differ(s.corpora, (c) => c.lambda)) out.push('lambdas')
  if (s.corpora.some((c) => c.query)) out.push('own')
  return out
}

const typescriptStage = (r: Stage): object => {
  switch (r.type) {
    case 'customer_reranker':
      return { type: r.type, rerankerId: 'rnk_272725719' }
    case 'mmr':
      return { type: r.type, diversityBias: r.bias ?? 0.3 }
    case 'userfn':
      return { type: r.type, userFunction: r.code ?? '' }
    case 'none':
      return { type: r.type }
  }
}

const bareStage = (r: Stage) =>
  r.limit === undefined &&
  r.cutoff === undefined &&
  (r.type !== 'customer_reranker' ||
    ((!r.name || r.name === 'Rerank_Multilingual_v1') && r.context === undefined && !r.instructions))

const defined = (o: object) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined && v !== ''))

/** Writes a value as TypeScript, with names of members bare where they can be. */
const typescript = (v: unknown): string => {
  if (Array.isArray(v)) return `[${v.map(typescript).join(', ')}]`
  if (v && typeof v === 'object')
    return `{ ${Object.entries(v)
      .map(([k, x]) => `${/^[a-zA-Z_]\w*$/.test(k) ? k : JSON.stringify(k)}: ${typescript(x)}`)
      .join(', ')} }`
  return JSON.stringify(v)
}

const typescriptRun =
  'npm install @vectara/stream-query-client@5.1.1 typescript@5.9.3 @types/node@20.19.0 && npx tsc --strict --module commonjs --target es2022 query.ts && node query.js'

export function typescriptCall(e: Experiment, origin: string): Call {
  const s = e.settings
  const c = s.context
  const lost = lostOfCorpora(s)
  if (differ(s.corpora, (x) => x.semantics)) lost.push('semanticses')
  if (differ(s.corpora, (x) => x.dimensions)) lost.push('dimensionses')
  if (s.best) lost.push('best')
  if (c.full) lost.push('full')
  if (s.save !== undefined) lost.push('save')
  if (s.stages.some((r) => !bareStage(r))) lost.push('stage')
  if (e.missing) lost.push('missing')
  const stages = s.stages.map(typescriptStage)
  const context = defined({
    charactersBefore: c.charactersBefore,
    charactersAfter: c.charactersAfter,
    sentencesBefore: c.before,
    sentencesAfter: c.after,
    startTag: c.start,
    endTag: c.end,
  })
  const has = (o: object | undefined) => (o && Object.keys(o).length ? o : undefined)
  const search = {
    metadataFilter: shared(s.corpora, (x) => x.filter) ?? '',
    ...defined({
      lexicalInterpolation: shared(s.corpora, (x) => x.lambda),
      semantics: shared(s.corpora, (x) => x.semantics),
      customDimensions: has(shared(s.corpora, (x) => x.dimensions)),
    }),
    offset: s.offset ?? 0,
    limit: s.limit ?? 10,
    ...defined({
      contextConfiguration: has(context),
      reranker: stages.length > 1 ? { type: 'chain', rerankers: stages } : stages[0],
    }),
  }
  const code = [
    'import { streamQueryV2 } from "@vectara/stream-query-client";',
    '',
    'streamQueryV2({',
    '  streamQueryConfig: {',
    `    domain: ${typescript(origin)}, apiKey: process.env.QUARRY_API_KEY, customerId: "any",`,
    `    corpusKey: ${typescript(s.corpora.map((x) => x.key).join(','))},`,
    `    query: ${typescript(e.query)},`,
    `    search: ${typescript(search)},`,
    ...(s.rewrite ? ['    intelligentQueryRewriting: true,'] : []),
    '  },',
    '  onStreamEvent: (event) => {',
    '    if (event.type === "searchResults") {',
    '      for (const r of event.searchResults) console.log(r.score.toFixed(3), r.document_id, r.text);',
    '    } else if (event.type !== "end") console.error(event);',
    '  },',
    '});',
  ].join('\n')
  return { code, lost, run: typescriptRun }
}

export function quarry(e: Experiment, origin: string): Call {
  const s = e.settings
  const c = s.context
  const lost = lostOfCorpora(s)
  if (s.corpora.some((x) => x.semantics)) lost.push('semantics')
  if (s.corpora.some((x) => Object.keys(x.dimensions).length)) lost.push('dimensions')
  if (s.best) lost.push('best')
  if (!c.before && !c.after && (c.charactersBefore || c.charactersAfter)) lost.push('characters')
  if (c.full) lost.push('full')
  if (c.start || c.end) lost.push('tags')
  if (s.rewrite) lost.push('rewrite')
  if (s.save !== undefined) lost.push('save')
  const filter = shared(s.corpora, (x) => x.filter)
  const lambda = shared(s.corpora, (x) => x.lambda)
  const { reranker } = bodyOf(e.query, s).search
  const kept = Object.keys(reranker ?? {}).length === 1 ? (reranker as unknown as Stage).type : JSON.stringify(reranker)
  const flags = [
    `--url=${shell(origin)}`,
    `--limit=${s.limit ?? 10}`,
    s.offset && `--offset=${s.offset}`,
    filter && `--filter=${shell(filter)}`,
    lambda !== undefined && `--lambda=${lambda}`,
    c.before && `--before=${c.before}`,
    c.after && `--after=${c.after}`,
    reranker && `--reranker=${shell(kept)}`,
    '--explain',
    e.missing && `--missing=${shell(e.missing)}`,
  ].filter(Boolean)
  const corpora = s.corpora.map((x) => x.key).join(',')
  return { code: `quarry query ${flags.join(' ')} -- ${shell(corpora)} ${shell(e.query)}`, lost }
}

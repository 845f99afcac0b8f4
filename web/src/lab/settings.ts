import type { components } from '../api/schema'

export type QueryBody = components['schemas']['QueryRequest']
type Reranker = components['schemas']['SearchReranker']

/** What is searched: a corpus, with what holds for it alone. */
export interface Searched {
  key: string
  filter: string
  lambda?: number
  semantics: '' | 'default' | 'query' | 'response'
  dimensions: Record<string, number>
  /** Searched for in place of the query; empty for the query. */
  query: string
}

export const stageTypes = ['customer_reranker', 'mmr', 'userfn', 'none'] as const

/** A stage of the reranker. Members of other types stay while the type changes, so that changing it back loses nothing. */
export interface Stage {
  type: (typeof stageTypes)[number]
  name?: string
  limit?: number
  cutoff?: number
  /** False where the reranker sees the passage without its context. */
  context?: false
  instructions?: string
  bias?: number
  code?: string
}

export interface Context {
  before?: number
  after?: number
  charactersBefore?: number
  charactersAfter?: number
  full?: boolean
  start?: string
  end?: string
}

/** Settings are all that a query says besides its words. What is not set is left to the service. */
export interface Settings {
  corpora: Searched[]
  limit?: number
  offset?: number
  /** Whether only the best passage of each document counts. */
  best?: boolean
  context: Context
  /** Empty for the reranker that the service uses by itself. */
  stages: Stage[]
  rewrite?: boolean
  save?: boolean
}

export const searched = (key: string): Searched => ({ key, filter: '', semantics: '', dimensions: {}, query: '' })

export const nothingSet: Settings = { corpora: [], context: {}, stages: [] }

/** Returns an object without the members that are not set. */
function set<T extends object>(o: T): T | undefined {
  const entries = Object.entries(o).filter(([, v]) => v !== undefined && v !== '')
  return entries.length ? (Object.fromEntries(entries) as T) : undefined
}

function stageBody(s: Stage): object {
  const shared = { limit: s.limit, cutoff: s.cutoff }
  switch (s.type) {
    case 'customer_reranker':
      return { ...shared, reranker_name: s.name, include_context: s.context, instructions: s.instructions }
    case 'mmr':
      return { ...shared, diversity_bias: s.bias }
    case 'userfn':
      return { ...shared, user_function: s.code || ' ' } // the service says what is missing
    case 'none':
      return { limit: s.limit }
  }
}

function rerankerBody(stages: Stage[]): object | undefined {
  const all = stages.map((s) => ({ type: s.type, ...set(stageBody(s)) }))
  return all.length > 1 ? { type: 'chain', rerankers: all } : all[0]
}

/** Returns the place of a stage among the fields of a request. */
export function stagePlace(stages: Stage[], i: number): string {
  return stages.length > 1 ? `body.search.reranker.rerankers[${i}]` : 'body.search.reranker'
}

/** Returns the request for a query, with nothing in it that need not be said. */
export function bodyOf(query: string, s: Settings): QueryBody {
  const { context: c } = s
  const corpora = s.corpora.map((one) => ({
    corpus_key: one.key,
    ...set({
      query: one.query,
      metadata_filter: one.filter,
      lexical_interpolation: one.lambda,
      semantics: one.semantics,
      custom_dimensions: set(one.dimensions),
    }),
  }))
  const context = set({
    sentences_before: c.before,
    sentences_after: c.after,
    characters_before: c.charactersBefore,
    characters_after: c.charactersAfter,
    start_tag: c.start,
    end_tag: c.end,
    full_document_context: c.full || undefined,
  })
  const search = {
    corpora,
    ...set({
      limit: s.limit,
      offset: s.offset,
      max_by: s.best ? 'doc.id' : undefined,
      context_configuration: context,
      reranker: rerankerBody(s.stages),
    }),
  }
  return {
    query,
    search,
    ...set({ intelligent_query_rewriting: s.rewrite || undefined, save_history: s.save }),
  } as QueryBody
}

/** Returns the stages of a reranker; those of chains in chains stand in one row, which is how they run. */
function stagesOf(r: Reranker | null | undefined): Stage[] {
  if (!r) return []
  switch (r.type) {
    case 'chain':
      return r.rerankers.flatMap(stagesOf)
    case 'customer_reranker':
      return [
        {
          type: r.type,
          name: r.reranker_name ?? r.reranker_id,
          limit: r.limit,
          cutoff: r.cutoff,
          context: r.include_context === false ? false : undefined,
          instructions: r.instructions,
        },
      ]
    case 'mmr':
      return [{ type: r.type, limit: r.limit, cutoff: r.cutoff, bias: r.diversity_bias }]
    case 'userfn':
      return [{ type: r.type, limit: r.limit, cutoff: r.cutoff, code: r.user_function }]
    case 'none':
      return [{ type: r.type, limit: r.limit }]
  }
}

/** Returns the settings that a request was made with, such as one of the history. */
export function settingsOf(body: QueryBody): Settings {
  const { search } = body
  const c: Partial<components['schemas']['ContextConfiguration']> = search.context_configuration ?? {}
  return {
    corpora: search.corpora.map((one) => ({
      key: one.corpus_key,
      filter: one.metadata_filter ?? '',
      lambda: one.lexical_interpolation,
      semantics: one.semantics ?? search.semantics ?? '',
      dimensions: Object.fromEntries(
        Object.entries(one.custom_dimensions ?? {}).filter((e): e is [string, number] => e[1] != null),
      ),
      query: one.query ?? '',
    })),
    limit: search.limit,
    offset: search.offset || undefined,
    best: search.max_by === 'doc.id' || undefined,
    context: {
      before: c.sentences_before || undefined,
      after: c.sentences_after || undefined,
      charactersBefore: c.characters_before,
      charactersAfter: c.characters_after,
      full: c.full_document_context || undefined,
      start: c.start_tag,
      end: c.end_tag,
    },
    stages: stagesOf(search.reranker as Reranker | null | undefined),
    rewrite: body.intelligent_query_rewriting || undefined,
    save: body.save_history,
  }
}

import { type Context, nothingSet, type Searched, type Settings, type Stage, searched, stageTypes } from './settings'

/** What an address of the lab holds. */
export interface Experiment {
  query: string
  /** The document that is looked for; empty for none. */
  missing: string
  settings: Settings
  /** What the settings are compared with. */
  other?: Settings
}

const num = (v: string): number | undefined => (v.trim() === '' || Number.isNaN(Number(v)) ? undefined : Number(v))

// A member of a corpus follows its key, a member of a stage follows its type: the address reads from left to right.
const ofCorpus: Record<string, (v: string, c: Searched) => Partial<Searched>> = {
  filter: (v) => ({ filter: v }),
  lambda: (v) => ({ lambda: num(v) }),
  as: (v) => ({ semantics: v === 'default' || v === 'query' || v === 'response' ? v : '' }),
  text: (v) => ({ query: v }),
  weigh: (v, c) => {
    const at = v.lastIndexOf(':')
    const weight = num(v.slice(at + 1))
    return at > 0 && weight !== undefined ? { dimensions: { ...c.dimensions, [v.slice(0, at)]: weight } } : {}
  },
}

const ofStage: Record<string, (v: string) => Partial<Stage>> = {
  model: (v) => ({ name: v }),
  keep: (v) => ({ limit: num(v) }),
  cutoff: (v) => ({ cutoff: num(v) }),
  alone: () => ({ context: false }),
  instructions: (v) => ({ instructions: v }),
  bias: (v) => ({ bias: num(v) }),
  function: (v) => ({ code: v }),
}

const ofContext: Record<string, (v: string) => Context> = {
  before: (v) => ({ before: num(v) }),
  after: (v) => ({ after: num(v) }),
  cbefore: (v) => ({ charactersBefore: num(v) }),
  cafter: (v) => ({ charactersAfter: num(v) }),
  full: () => ({ full: true }),
  start: (v) => ({ start: v }),
  end: (v) => ({ end: v }),
}

const ofAll: Record<string, (v: string) => Partial<Settings>> = {
  limit: (v) => ({ limit: num(v) }),
  offset: (v) => ({ offset: num(v) }),
  best: () => ({ best: true }),
  rewrite: () => ({ rewrite: true }),
  save: (v) => ({ save: v === '1' }),
}

/** Returns a member of a table; a name such as constructor is none. */
const own = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

const fresh = (): Settings => ({ ...nothingSet, corpora: [], context: {}, stages: [] })

/** Reads an address. What it does not know is passed over, so that old addresses go on working. */
export function read(search: URLSearchParams): Experiment {
  const out: Experiment = { query: '', missing: '', settings: fresh() }
  let at = out.settings
  for (const [name, value] of search) {
    const corpus = at.corpora.at(-1)
    const stage = at.stages.at(-1)
    if (name === 'q') out.query = value
    else if (name === 'missing') out.missing = value
    else if (name === 'or') {
      out.other = fresh()
      at = out.other
    } else if (name === 'corpus') at.corpora.push(searched(value))
    else if (name === 'rank') {
      const type = stageTypes.find((t) => t === value)
      if (type) at.stages.push({ type })
    } else {
      Object.assign(at, own(ofAll, name)?.(value))
      Object.assign(at.context, own(ofContext, name)?.(value))
      if (corpus) Object.assign(corpus, own(ofCorpus, name)?.(value, corpus))
      if (stage) Object.assign(stage, own(ofStage, name)?.(value))
    }
  }
  return out
}

function writeSettings(to: URLSearchParams, s: Settings) {
  const put = (name: string, value: string | number | boolean | undefined) => {
    if (value !== undefined && value !== '' && value !== false) to.append(name, value === true ? '1' : String(value))
  }
  for (const c of s.corpora) {
    to.append('corpus', c.key)
    put('filter', c.filter)
    put('lambda', c.lambda)
    put('as', c.semantics)
    put('text', c.query)
    for (const [name, weight] of Object.entries(c.dimensions)) put('weigh', `${name}:${weight}`)
  }
  put('limit', s.limit)
  put('offset', s.offset)
  put('best', s.best)
  put('before', s.context.before)
  put('after', s.context.after)
  put('cbefore', s.context.charactersBefore)
  put('cafter', s.context.charactersAfter)
  put('full', s.context.full)
  put('start', s.context.start)
  put('end', s.context.end)
  for (const r of s.stages) {
    to.append('rank', r.type)
    put('model', r.name)
    put('keep', r.limit)
    put('cutoff', r.cutoff)
    put('alone', r.context === false)
    put('instructions', r.instructions)
    put('bias', r.bias)
    put('function', r.code)
  }
  put('rewrite', s.rewrite)
  if (s.save !== undefined) put('save', s.save ? '1' : '0')
}

/** Writes an experiment as the search of an address, without what is not set. */
export function write(e: Experiment): URLSearchParams {
  const out = new URLSearchParams()
  if (e.query) out.append('q', e.query)
  if (e.missing) out.append('missing', e.missing)
  writeSettings(out, e.settings)
  if (e.other) {
    out.append('or', '')
    writeSettings(out, e.other)
  }
  return out
}

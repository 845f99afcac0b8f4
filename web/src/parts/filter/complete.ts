import { type Token, tokens } from './tokens'

export type Type =
  | 'text'
  | 'integer'
  | 'real'
  | 'real_number'
  | 'boolean'
  | 'list[text]'
  | 'list[integer]'
  | 'list[real]'
  | 'list[real_number]'

/** What a filter can refer to, such as doc.year. */
export interface Attribute {
  name: string
  type: Type
  description?: string
}

/** A value of an attribute, and how often it occurs. */
export interface Value {
  value: unknown
  count?: number
}

export interface Option {
  kind: 'attribute' | 'operator' | 'value'
  /** What takes the place of what was typed of it. */
  insert: string
  /** Of an attribute its type, of a value how often it occurs. */
  type?: Type
  count?: number
  description?: string
}

/** What can stand at a place of a filter. */
export interface Completion {
  from: number
  to: number
  options: Option[]
  /** The attribute whose values could stand there. */
  valuesOf?: string
}

/** What every corpus has. */
export const builtIn: Attribute[] = [
  { name: 'doc.id', type: 'text' },
  { name: 'part.lang', type: 'text' },
  { name: 'part.is_title', type: 'boolean' },
]

/** Writes a value as the filter language does. A quote in a text is doubled. */
export function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

const operator = (insert: string): Option => ({ kind: 'operator', insert })
const isWord = (t: Token | undefined, ...words: string[]) => t?.kind === 'word' && words.includes(t.text.toUpperCase())
const compares = (t: Token | undefined) => t?.kind === 'sign' && /^(=|==|!=|<>|<|<=|>|>=)$/.test(t.text)
const isOperand = (t: Token | undefined) =>
  !!t && (t.kind === 'reference' || t.kind === 'text' || t.kind === 'number' || isWord(t, 'TRUE', 'FALSE', 'NULL'))

const equality = ['=', '<>']
const order = ['<', '<=', '>', '>=']
const presence = ['IS NULL', 'IS NOT NULL']
const joints = ['AND', 'OR']

function operatorsOf(type: Type): string[] {
  if (type.startsWith('list')) return presence
  if (type === 'boolean') return [...equality, ...presence, ...joints]
  return [
    ...equality,
    'IN',
    'NOT IN',
    ...(type === 'text' ? [] : order),
    ...presence,
    ...(type === 'text' ? order : []),
  ]
}

type Expected =
  | 'operand'
  | 'operator'
  | 'joint'
  | 'value'
  | 'list'
  | 'element'
  | 'separator'
  | 'null'
  | 'nullOrNot'
  | 'in'

/** Returns what may follow tokens, and the attribute that its values are of. */
function expected(before: Token[]): { what: Expected; of?: string } {
  const last = before.at(-1)
  const previous = before.at(-2)
  const opened = openList(before)
  if (opened) {
    const of = before[isWord(before[opened.in - 1], 'NOT') ? opened.in - 2 : opened.in - 1]
    return { what: isOperand(last) ? 'separator' : 'element', of: of?.kind === 'reference' ? of.text : undefined }
  }
  if (!last || isWord(last, 'AND', 'OR') || (last.kind === 'sign' && last.text === '(')) return { what: 'operand' }
  if (isWord(last, 'IN')) return { what: 'list', of: previous?.kind === 'reference' ? previous.text : undefined }
  if (isWord(last, 'IS')) return { what: 'nullOrNot' }
  if (isWord(last, 'NOT')) {
    if (isWord(previous, 'IS')) return { what: 'null' }
    return { what: isOperand(previous) ? 'in' : 'operand' }
  }
  if (compares(last)) return { what: 'value', of: previous?.kind === 'reference' ? previous.text : undefined }
  if (isOperand(last)) {
    const done = compares(previous) || isWord(previous, 'IN', 'IS') || (isWord(last, 'NULL') && isWord(previous, 'NOT'))
    return done ? { what: 'joint' } : { what: 'operator', of: last.kind === 'reference' ? last.text : undefined }
  }
  if (last.kind === 'sign' && last.text === ')') return { what: 'joint' }
  return { what: 'operand' }
}

/** Returns where the IN stands whose list is open at the end of tokens. */
function openList(before: Token[]): { in: number } | undefined {
  for (let i = before.length - 1, depth = 0; i >= 0; i--) {
    const t = before[i] as Token
    if (t.kind !== 'sign') continue
    if (t.text === ')') depth++
    if (t.text === '(' && depth-- === 0) return isWord(before[i - 1], 'IN') ? { in: i - 1 } : undefined
  }
  return undefined
}

/** Returns the attribute whose values could stand at a place, for those who have to fetch them. */
export function valuesWanted(filter: string, caret: number, attributes: Attribute[]): string | undefined {
  const { what, of } = expected(before(filter, caret).tokens)
  return of && (what === 'value' || what === 'element') && attributes.some((a) => a.name === of) ? of : undefined
}

/** Returns the tokens before a place, and the one that is being typed there. */
function before(filter: string, caret: number): { tokens: Token[]; typed?: Token } {
  const all = tokens(filter).filter((t) => t.from < caret)
  const last = all.at(-1)
  const typing =
    last &&
    last.to >= caret &&
    (last.kind === 'text' ? !last.closed || last.to > caret : /[\p{L}\p{N}_.<>=!-]$/u.test(last.text))
  return typing ? { tokens: all.slice(0, -1), typed: last } : { tokens: all }
}

function candidates(what: Expected, of: Attribute | undefined, attributes: Attribute[], values: Value[]): Option[] {
  const references = attributes.map<Option>((a) => ({
    kind: 'attribute',
    insert: a.name,
    type: a.type,
    description: a.description,
  }))
  const known = (of?.type === 'boolean' ? [{ value: true }, { value: false }] : values).map<Option>((v: Value) => ({
    kind: 'value',
    insert: literal(v.value),
    count: v.count,
  }))
  switch (what) {
    case 'operand':
      return [...references, operator('NOT'), operator('(')]
    case 'operator':
      return (of ? operatorsOf(of.type) : ['IN', ...equality, ...order]).map(operator)
    case 'joint':
      return joints.map(operator)
    case 'value':
      return [...known, ...references.filter((r) => of && r.type === of.type && r.insert !== of.name)]
    case 'list':
      return of ? [operator('(')] : references.filter((r) => r.type?.startsWith('list'))
    case 'element':
      return known
    case 'separator':
      return [operator(','), operator(')')]
    case 'null':
      return [operator('NULL')]
    case 'nullOrNot':
      return [operator('NULL'), operator('NOT NULL')]
    case 'in':
      return [operator('IN')]
  }
}

/** Returns whether an option begins with, or for names and values holds, what was typed. */
function fits(o: Option, typed: string): boolean {
  const plain = (s: string) => s.toLowerCase().replace(/^['"]|['"]$/g, '')
  const want = plain(typed)
  const have = plain(o.insert)
  return o.kind === 'operator' ? have.startsWith(want) : have.includes(want)
}

/** Returns what can stand at a place of a filter. Values are those of the attribute that valuesWanted names. */
export function complete(filter: string, caret: number, attributes: Attribute[], values: Value[]): Completion {
  const at = before(filter, caret)
  const { what, of: name } = expected(at.tokens)
  const of = attributes.find((a) => a.name === name)
  const typed = at.typed ? filter.slice(at.typed.from, caret) : ''
  const options = candidates(what, of, attributes, values).filter((o) => fits(o, typed))
  return {
    from: at.typed?.from ?? caret,
    to: at.typed ? at.typed.to : caret,
    options: options.length === 1 && options[0]?.insert === typed ? [] : options,
    valuesOf: valuesWanted(filter, caret, attributes),
  }
}

/** Returns the filter with an option put in, and where the caret then stands. A blank parts it from what comes next. */
export function accept(filter: string, c: Completion, o: Option): { filter: string; caret: number } {
  const left = filter.slice(0, c.from)
  const right = filter.slice(c.to)
  const glue = left && !/[\s(]$/.test(left) && !/^[,)]$/.test(o.insert) ? ' ' : ''
  const space = o.insert === '(' || right.startsWith(' ') ? '' : ' '
  const head = left + glue + o.insert + space
  return { filter: head + right, caret: head.length + (right.startsWith(' ') && o.insert !== '(' ? 1 : 0) }
}

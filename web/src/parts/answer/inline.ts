import { pieces } from './marks'

/** A piece of a line of an answer. */
export type Inline =
  | { kind: 'text' | 'code'; text: string }
  | { kind: 'passage'; n: number }
  | { kind: 'link'; href: string; inside: Inline[]; host: string }
  | { kind: 'em' | 'strong' | 'struck'; inside: Inline[] }

/** Marks around a piece, with what they may do where they stand. */
interface Marks {
  kind: 'marks'
  char: string
  count: number
  opens: boolean
  closes: boolean
}

// What is not alike everywhere: controls, and marks that turn the direction in which an address is read.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const disguised = /[\u0000-\u001f\u007f\u200b-\u200f\u202a-\u202e\u2060-\u206f]/

/** Returns an address that a link may lead to, with its host; nothing for what is not http or https. */
function addressOf(raw: string): { href: string; host: string } | undefined {
  if (!/^https?:\/\//i.test(raw) || disguised.test(raw)) return undefined
  try {
    const { href, host } = new URL(raw)
    return { href, host }
  } catch {
    return undefined
  }
}

const special =
  /\\[!-/:-@[-`{-~]|`+|<https?:\/\/[^\s<>]*>|!?\[[^[\]\n]*\]\(([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s+"[^"\n]*")?\s*\)|https?:\/\/[^\s<>"`\u3000-\u303f\uff00-\uffef]+|\*+|_+|~~+/gi

/** Returns where the code ends that a run of backticks begins, before its end; -1 where none ends it. */
function codeEnd(text: string, run: string, from: number, missing: Set<number>): number {
  if (missing.has(run.length)) return -1
  for (let at = text.indexOf(run, from); at >= 0; at = text.indexOf(run, at)) {
    let to = at
    while (text[to] === '`') to++
    if (to - at === run.length) return at
    at = to
  }
  missing.add(run.length)
  return -1
}

/** Returns a bare address without what belongs to the sentence around it, such as a bracket that it does not open. */
function bare(raw: string): string {
  let unopened = raw.split(')').length - raw.split('(').length
  let end = raw.length
  for (; end > 0; end--) {
    const last = raw[end - 1] as string
    if (last === ')' ? unopened-- <= 0 : !".,;:!?'*_~]}".includes(last)) break
  }
  return raw.slice(0, end)
}

const inWord = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}]/u.test(c)
const space = (c: string | undefined) => c === undefined || /\s/.test(c)

function marksAt(text: string, found: string, at: number): Marks {
  const [before, behind] = [text[at - 1], text[at + found.length]]
  const low = found.startsWith('_')
  return {
    kind: 'marks',
    char: found[0] as string,
    count: found.length,
    opens: !space(behind) && !(low && inWord(before)),
    closes: !space(before) && !(low && inWord(behind)),
  }
}

/** Reads one line from left to right. */
class Line {
  readonly out: (Inline | Marks)[] = []
  private readonly missing = new Set<number>()
  constructor(
    private readonly text: string,
    private readonly passages: number,
    private readonly links: boolean,
  ) {}

  private plain(text: string) {
    for (const p of pieces(text, this.passages))
      this.out.push('text' in p ? { kind: 'text', text: p.text } : { kind: 'passage', n: p.passage })
  }

  private link(label: Inline[], raw: string): boolean {
    const to = this.links ? addressOf(raw) : undefined
    if (to) this.out.push({ kind: 'link', inside: label, ...to })
    return to !== undefined
  }

  /** Takes what was found, and returns where to go on. */
  private take(found: RegExpExecArray): number {
    const [all, target] = found
    const at = found.index
    const behind = at + all.length
    if (all.startsWith('\\')) this.out.push({ kind: 'text', text: all.slice(1) })
    else if (all.startsWith('`')) {
      const end = codeEnd(this.text, all, behind, this.missing)
      if (end >= 0) {
        this.out.push({ kind: 'code', text: this.text.slice(behind, end).trim() })
        return end + all.length
      }
      this.plain(all)
    } else if (target !== undefined) {
      const label = all.slice(all.indexOf('[') + 1, all.indexOf(']'))
      if (target === '') this.plain(`[${label}]`)
      else if (!this.link(label.trim() ? inline(label, 0, false) : [{ kind: 'text', text: target }], target))
        this.plain(all)
    } else if (all.startsWith('<')) {
      const raw = all.slice(1, -1)
      if (!this.link([{ kind: 'text', text: raw }], raw)) this.plain(all)
    } else if (/^h/i.test(all)) {
      const raw = bare(all)
      if (!this.link([{ kind: 'text', text: raw }], raw)) this.plain(raw)
      return at + raw.length
    } else this.out.push(marksAt(this.text, all, at))
    return behind
  }

  read() {
    let from = 0
    const look = new RegExp(special)
    for (let found = look.exec(this.text); found; found = look.exec(this.text)) {
      if (found.index > from) this.plain(this.text.slice(from, found.index))
      from = this.take(found)
      look.lastIndex = from
    }
    if (from < this.text.length) this.plain(this.text.slice(from))
    return this.out
  }
}

interface Frame {
  char: string
  size: number
  inside: Inline[]
}

const most = 6 // pieces inside of one another; what is deeper is text

/** Puts what stands between marks into one another. Marks without a partner are text. */
function nest(flat: (Inline | Marks)[]): Inline[] {
  const frames: Frame[] = [{ char: '', size: 0, inside: [] }]
  const top = () => frames.at(-1) as Frame
  const write = (text: string) => text && top().inside.push({ kind: 'text', text })
  const drop = () => {
    const left = frames.pop() as Frame
    write(left.char.repeat(left.size))
    for (const one of left.inside) top().inside.push(one)
  }
  const close = (at: number) => {
    while (frames.length - 1 > at) drop()
    const { char, size, inside } = frames.pop() as Frame
    top().inside.push({ kind: char === '~' ? 'struck' : size === 2 ? 'strong' : 'em', inside })
  }
  for (const one of flat) {
    if (one.kind !== 'marks') {
      top().inside.push(one)
      continue
    }
    let left = one.count
    while (one.closes && left > 0) {
      const at = frames.findLastIndex((f) => f.char === one.char && f.size <= left)
      if (at < 1) break
      left -= (frames[at] as Frame).size
      close(at)
    }
    while (one.opens && left > 0 && left < 4 && frames.length <= most) {
      const size = one.char === '~' || left >= 2 ? 2 : 1
      frames.push({ char: one.char, size, inside: [] })
      left -= size
    }
    if (left > 0) write(one.char.repeat(left))
  }
  while (frames.length > 1) drop()
  return top().inside
}

/** Reads the marks of a line or paragraph. Numbers in brackets that name a passage are citations. */
export function inline(text: string, passages: number, links = true): Inline[] {
  return nest(new Line(text, passages, links).read())
}

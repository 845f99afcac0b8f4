/** What the lab puts around a matched passage where the settings have no tags of their own. No text holds these characters. */
export const startTag = '\u0002'
export const endTag = '\u0003'

/** A passage in its context. */
export interface InContext {
  before: string
  match: string
  after: string
}

/** Cuts the text of a result at the tags around the match; all of it is the match where they are not there. */
export function inContext(text: string, start = startTag, end = endTag): InContext {
  const from = start ? text.indexOf(start) : -1
  const to = end ? text.indexOf(end, from + start.length) : -1
  if (from < 0 || to < 0) return { before: '', match: text, after: '' }
  return { before: text.slice(0, from), match: text.slice(from + start.length, to), after: text.slice(to + end.length) }
}

// Words that stand in every text say nothing about a match.
const common = new Set(
  'a an and are as at be by can do does for from has have how i if in is it its not of on or that the this to was what when where which who why will with you der die das ein eine und ist im in den von zu mit wie was le la les un une et est de du des en que el los las y es por con'.split(
    ' ',
  ),
)
const endings = /^(|s|es|ed|d|ing|er|ers|en|n|e|r|ly|’s|'s)$/

const plain = (word: string) => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss')

/** Reports whether two words are forms of one, by their beginning and what is left of them. */
function sameWord(a: string, b: string): boolean {
  if (a === b) return true
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  if (same < 3 || same < Math.min(a.length, b.length) - 1) return false
  return endings.test(a.slice(same)) && endings.test(b.slice(same))
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

function wordsOf(text: string): { word: string; at: number }[] {
  return [...segmenter.segment(text)].filter((s) => s.isWordLike).map((s) => ({ word: s.segment, at: s.index }))
}

/** Reports for a word whether the query asks for it. */
type Asked = (word: string) => boolean

/** Reads the words of a query: what it excludes is not asked for, a beginning with a star is. */
export function askedFor(query: string): Asked {
  const wanted = query.replace(/(^|\s)-\S+/g, ' ')
  const starts = [...wanted.matchAll(/([\p{L}\p{N}]+)\*/gu)].map((m) => plain(m[1] as string))
  const words = wordsOf(wanted).map((w) => plain(w.word))
  const telling = words.filter((w) => !common.has(w))
  const list = telling.length ? telling : words
  return (word) => {
    const w = plain(word)
    return list.some((one) => sameWord(one, w)) || starts.some((s) => w.startsWith(s))
  }
}

/** A piece of a text, marked where the query asks for it. */
export interface Piece {
  text: string
  marked: boolean
}

// Words are marked up to here, so that a document of a megabyte does not hold up the page.
const farEnough = 20_000

/** Cuts a text into pieces with the words that a query asks for marked. */
export function pieces(text: string, asked: Asked): Piece[] {
  const out: Piece[] = []
  let from = 0
  for (const { word, at } of wordsOf(text.slice(0, farEnough))) {
    if (!asked(word)) continue
    if (at > from) out.push({ text: text.slice(from, at), marked: false })
    out.push({ text: word, marked: true })
    from = at + word.length
  }
  if (from < text.length) out.push({ text: text.slice(from), marked: false })
  return out
}

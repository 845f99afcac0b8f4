/** A token of the filter language, by where it stands in the text. */
export interface Token {
  kind: 'word' | 'reference' | 'text' | 'number' | 'sign'
  text: string
  from: number
  to: number
  /** False for a text whose quote is not closed yet. */
  closed: boolean
}

// A name in quotes may follow "doc."; a text stands in single or double quotes, and a doubled quote inside is one.
const pattern =
  /(?<reference>(?:doc|part)\.(?:"[^"]*"?|`[^`]*`?|[\p{L}\p{N}_.-]*))|(?<text>'(?:[^']|'')*'?|"(?:[^"]|"")*"?)|(?<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?<word>[\p{L}_][\p{L}\p{N}_.-]*)|(?<sign><=|>=|<>|!=|==|[^\s])/gu

/** Cuts a filter into tokens. Nothing is refused: what is not of the language becomes signs. */
export function tokens(filter: string): Token[] {
  return [...filter.matchAll(pattern)].map((m) => {
    const kinds = m.groups ?? {}
    const kind =
      (['reference', 'text', 'number', 'word', 'sign'] as const).find((k) => kinds[k] !== undefined) ?? 'sign'
    const text = m[0]
    const closed = kind !== 'text' || (text.length > 1 && (text.split(text[0] as string).length - 1) % 2 === 0)
    return { kind, text, from: m.index, to: m.index + text.length, closed }
  })
}

// The marks of Unicode that turn the direction of a text.
const isolates = /[\u2066-\u2068]/
const embeddings = /[\u202a\u202b\u202d\u202e]/
const popIsolate = '\u2069'
const popEmbedding = '\u202c'
const any = /[\u202a-\u202e\u2066-\u2069]/

/** Among these is what ends a paragraph for the direction of a text, and with it whatever isolates the text. */
const controls = /(?![\n\t])[\p{Cc}\u2029]/gu

/** Returns a text whose marks of direction are in pairs, so that they turn nothing that stands after the text. */
export function closed(text: string): string {
  const line = text.replace(controls, ' ')
  if (!any.test(line)) return line
  const open: string[] = [] // what closes the marks that are open, the innermost last
  let out = ''
  for (const c of line) {
    if (isolates.test(c)) open.push(popIsolate)
    else if (embeddings.test(c)) open.push(popEmbedding)
    else if (c === popEmbedding && open.at(-1) !== popEmbedding) continue
    else if (c === popEmbedding) open.pop()
    else if (c === popIsolate) {
      const at = open.lastIndexOf(popIsolate)
      if (at < 0) continue
      open.length = at // the end of an isolate ends what was opened within it
    }
    out += c
  }
  return out + open.reverse().join('')
}

/** Returns a text for the middle of a sentence, which it neither turns nor is turned by. */
export function isolated(text: string): string {
  const line = closed(text)
  return any.test(line) ? `\u2068${line}\u2069` : line
}

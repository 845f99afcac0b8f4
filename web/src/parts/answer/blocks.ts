/** A block of an answer, as Markdown has it. Anything else, HTML above all, is text. */
export type Block =
  | { kind: 'text' | 'heading' | 'code'; text: string }
  | { kind: 'rule' }
  | { kind: 'quote'; blocks: Block[] }
  /** A numbered list has the number of its first item. */
  | { kind: 'list'; start?: number; items: Block[][] }
  | { kind: 'table'; head: string[]; rows: string[][] }

// Deeper than this, quotes and lists are text: nobody writes them, and each level costs a call.
const deepest = 8

const fence = /^ {0,3}(`{3,}|~{3,})/
const heading = /^ {0,3}#{1,6}(?:\s|$)/
const rule = /^ {0,3}([-*_])(?: *\1){2,} *$/
const quote = /^ {0,3}> ?/
const item = /^( *)([-*+]|\d{1,9}[.)])(?: +|$)/
const underHead = /^[\s:|-]*-[\s:|-]*$/

type Next = [block: Block, end: number]

const indentOf = (line: string) => line.search(/\S|$/)
const blank = (line: string) => line.trim() === ''

/** Returns the code from a fence to the one that closes it; to the end where none does, as while an answer is being written. */
function codeAt(lines: string[], at: number, mark: string): Next {
  let end = at + 1
  const closes = (line: string) => {
    const found = fence.exec(line)?.[1]
    return found?.startsWith(mark) && blank(line.trim().slice(found.length))
  }
  while (end < lines.length && !closes(lines[end] as string)) end++
  return [{ kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end + 1]
}

function quoteAt(lines: string[], at: number, depth: number): Next {
  let end = at
  while (end < lines.length && quote.test(lines[end] as string)) end++
  const inside = lines.slice(at, end).map((line) => line.replace(quote, ''))
  return [{ kind: 'quote', blocks: read(inside, depth + 1) }, end]
}

/** Returns a list: an item goes on as long as lines are blank, indented, or the rest of a paragraph. */
function listAt(lines: string[], at: number, depth: number): Next {
  const first = item.exec(lines[at] as string) as RegExpExecArray
  const base = (first[1] as string).length
  const numbered = /\d/.test(first[2] as string)
  const items: string[][] = []
  let end = at
  for (let width = 0; end < lines.length; end++) {
    const line = lines[end] as string
    const indent = indentOf(line)
    const marked = item.exec(line)
    if (marked && indent <= base && !rule.test(line)) {
      if (/\d/.test(marked[2] as string) !== numbered) break
      width = marked[0].length
      items.push([line.slice(width)])
    } else if (blank(line)) items.at(-1)?.push('')
    else if (indent > base) items.at(-1)?.push(line.slice(Math.min(indent, width)))
    else if (blank(lines[end - 1] ?? '') || starts(line)) break
    else items.at(-1)?.push(line)
  }
  const start = numbered ? Number.parseInt(first[2] as string, 10) : undefined
  return [{ kind: 'list', start, items: items.map((one) => read(one, depth + 1)) }, end]
}

function cellsOf(line: string): string[] {
  const cells = line.trim().replaceAll('\\|', '\u0001').replace(/^\|/, '').split('|')
  if (cells.length > 1 && blank(cells.at(-1) as string)) cells.pop()
  return cells.map((c) => c.trim().replaceAll('\u0001', '|'))
}

/** Reports whether a table begins at a line: the line below it holds nothing but dashes and bars. */
const isTable = (lines: string[], at: number) =>
  lines[at]?.includes('|') === true && lines[at + 1]?.includes('|') === true && underHead.test(lines[at + 1] as string)

function tableAt(lines: string[], at: number): Next {
  let end = at + 2
  while (end < lines.length && lines[end]?.includes('|')) end++
  return [{ kind: 'table', head: cellsOf(lines[at] as string), rows: lines.slice(at + 2, end).map(cellsOf) }, end]
}

/** Reports whether a line begins a block that ends a paragraph. */
const starts = (line: string) =>
  fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || item.test(line)

function textAt(lines: string[], at: number): Next {
  let end = at + 1
  while (end < lines.length && !blank(lines[end] as string) && !starts(lines[end] as string) && !isTable(lines, end))
    end++
  return [{ kind: 'text', text: lines.slice(at, end).join('\n').trim() }, end]
}

/** Returns the block that begins at a line, and the line behind it. */
function next(lines: string[], at: number, depth: number): Next {
  const line = lines[at] as string
  if (depth > deepest) return [{ kind: 'text', text: lines.slice(at).join('\n').trim() }, lines.length]
  const mark = fence.exec(line)?.[1]
  if (mark && (mark.startsWith('~') || !line.trim().slice(mark.length).includes('`'))) return codeAt(lines, at, mark)
  if (heading.test(line)) return [{ kind: 'heading', text: line.trim().replace(/^#+/, '').trim() }, at + 1]
  if (rule.test(line)) return [{ kind: 'rule' }, at + 1]
  if (quote.test(line)) return quoteAt(lines, at, depth)
  if (item.test(line)) return listAt(lines, at, depth)
  if (isTable(lines, at)) return tableAt(lines, at)
  return textAt(lines, at)
}

function* spans(lines: string[], depth: number): Generator<[Block, from: number, to: number]> {
  for (let at = 0; at < lines.length; ) {
    if (blank(lines[at] as string)) {
      at++
      continue
    }
    const [block, end] = next(lines, at, depth)
    yield [block, at, end]
    at = end
  }
}

function read(lines: string[], depth: number): Block[] {
  return [...spans(lines, depth)].map(([block]) => block)
}

/** Returns the blocks of a text. */
export const blocksOf = (markdown: string) => read(markdown.split(/\r\n?|\n/), 0)

/** Cuts a text between its blocks. While it is being written, all pieces but the last stay as they are. */
export function cut(markdown: string): string[] {
  const lines = markdown.split(/\r\n?|\n/)
  return [...spans(lines, 0)].map(([, from, to]) => lines.slice(from, to).join('\n'))
}

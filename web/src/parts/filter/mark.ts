import { tokens } from './tokens'

/** A place in a text. */
export interface Place {
  from: number
  to: number
}

/** Returns the position in a message such as "Syntax error at 1:10 …": a line from 1 and a column of characters from 0. */
function positionOf(message: string): { line: number; column: number } | undefined {
  const found = /\bat (\d+):(\d+)\b/.exec(message)
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined
}

/** Returns where a position stands in a text; the service counts characters, a string counts halves of rare ones. */
function offsetOf(text: string, at: { line: number; column: number }): number {
  const lines = text.split('\n')
  const above = lines.slice(0, at.line - 1).reduce((n, line) => n + line.length + 1, 0)
  return above + [...(lines[at.line - 1] ?? '')].slice(0, at.column).join('').length
}

/** Returns the places of a filter that a message is about. A message without any has none. */
export function marked(filter: string, message: string): Place[] {
  const all = tokens(filter)
  const position = positionOf(message)
  if (position) {
    const from = Math.min(offsetOf(filter, position), filter.length)
    const token = all.find((t) => t.from <= from && from < t.to)
    return [{ from, to: token ? token.to : Math.min(from + 1, filter.length) }]
  }
  const unknown = /Unrecognized references: (.+)$/.exec(message)?.[1]?.split(', ') ?? []
  return all.filter((t) => t.kind === 'reference' && unknown.includes(t.text)).map(({ from, to }) => ({ from, to }))
}

/** Returns the place in a text of another language, such as a user function, that a message is about. */
export function place(text: string, message: string): Place | undefined {
  const position = positionOf(message)
  if (!position) return undefined
  const from = Math.min(offsetOf(text, position), text.length)
  const word = /^[\p{L}\p{N}_$.]+|^'[^']*'?|^\S?/u.exec(text.slice(from))?.[0] ?? ''
  return { from, to: from + word.length }
}

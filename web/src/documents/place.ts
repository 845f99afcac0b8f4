/** Where a filter is wrong, as the service says it, such as "Syntax error at 1:11 …". */
export interface Place {
  before: string
  at: string
  after: string
}

/** Returns the place in a filter that a message is about: after a position the word there, else a name that it holds. */
export function placeOf(filter: string, message: string): Place | undefined {
  const position = /\bat (\d+):(\d+)/.exec(message)
  if (position) {
    const lines = filter.split('\n')
    const start = lines.slice(0, Number(position[1]) - 1).reduce((n, line) => n + line.length + 1, 0)
    const characters = [...filter.slice(start)]
    const from = start + characters.slice(0, Number(position[2])).join('').length // columns count from 0
    return split(filter, Math.min(from, filter.length))
  }
  const name = /: ((?:doc|part)[.[][^\s,]+)/.exec(message)?.[1]
  const at = name ? filter.indexOf(name) : -1
  return name && at >= 0 ? split(filter, at, name.length) : undefined
}

function split(filter: string, from: number, length?: number): Place {
  const n = length ?? (/^(\w+|.)/su.exec(filter.slice(from))?.[0].length || 0)
  return { before: filter.slice(0, from), at: filter.slice(from, from + n), after: filter.slice(from + n) }
}

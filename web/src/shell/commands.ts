/** Something to go to or to do. */
export interface Command {
  name: string
  /** Another name that finds it. */
  also?: string
  kind: string
  run: () => void
}

/** Reports how well a text holds what was typed: 3 from its beginning, 2 from the beginning of a word, 1 somewhere, 0 not. */
function match(held: string, typed: string): number {
  const at = held.toLowerCase().indexOf(typed)
  if (at < 0) return 0
  if (at === 0) return 3
  return /[\s_-]/.test(held[at - 1] ?? '') ? 2 : 1
}

/** Returns the commands that what was typed finds, the best first; all of them where nothing was typed. */
export function matching(all: Command[], typed: string): Command[] {
  const wanted = typed.trim().toLowerCase()
  if (!wanted) return all
  const rated = all.map((c) => ({ c, rate: Math.max(match(c.name, wanted), match(c.also ?? '', wanted)) }))
  return rated
    .filter((r) => r.rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .map((r) => r.c)
}

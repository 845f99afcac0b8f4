/** A piece of an answer: a text, or the mark of a citation. */
export type Piece = { text: string } | { passage: number }

/** Cuts an answer at its marks, such as [2] or [1, 3], that name one of its passages. Anything else stays text. */
export function pieces(answer: string, passages: number): Piece[] {
  const out: Piece[] = []
  let from = 0
  for (const mark of answer.matchAll(/\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/g)) {
    const named = (mark[1] ?? '').split(',').map(Number)
    if (!named.every((n) => n >= 1 && n <= passages)) continue
    if (mark.index > from) out.push({ text: answer.slice(from, mark.index) })
    out.push(...named.map((passage) => ({ passage })))
    from = mark.index + mark[0].length
  }
  if (from < answer.length) out.push({ text: answer.slice(from) })
  return out
}

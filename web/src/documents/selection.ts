/** What a change of many documents is about: the ones that were chosen, or all that a filter selects. */
export type Which = { ids: string[] } | { filter: string }

/** How long the ids of one request may be; some proxies refuse addresses of more than 8 kB. */
const longest = 6000

/**
 * Returns the query strings that name a selection, more than one where the ids are too long for one address. The parameter
 * is repeated, since an encoded comma separates ids where it stands once.
 */
export function selectionOf(which: Which): string[] {
  if ('filter' in which) return [`metadata_filter=${encodeURIComponent(which.filter)}`]
  const all: string[] = []
  let one = ''
  for (const id of which.ids) {
    const next = `document_ids=${encodeURIComponent(id)}&`
    if (one && one.length + next.length > longest) {
      all.push(`${one}document_ids=`)
      one = ''
    }
    one += next
  }
  if (one) all.push(`${one}document_ids=`)
  return all
}

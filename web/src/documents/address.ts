/** Returns the address of a document below its corpus. Ids may hold slashes and anything else. */
export const addressOf = (id: string) => `/documents/${encodeURIComponent(id)}`

/**
 * Returns the id in the path of the page, which is taken from the browser: routers decode paths once on their way, and an id
 * with a per cent sign would be another one.
 */
export function idIn(pathname: string): string {
  const encoded = /\/corpora\/[^/]+\/documents\/(.*)$/s.exec(pathname)?.[1] ?? ''
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

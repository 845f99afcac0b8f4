/**
 * Returns the filter of a list for what holds a text, in either case; undefined for no text. The filters of lists are
 * regular expressions, so what has a meaning there is escaped.
 */
export function holding(text: string): string | undefined {
  return text ? `(?i)${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}` : undefined
}

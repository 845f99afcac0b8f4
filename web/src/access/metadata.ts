import { text } from '../text/en'

/** Returns names that are written with commas between them, each once. */
export function namesOf(written: string): string[] {
  return [...new Set(written.split(',').map((s) => s.trim()))].filter(Boolean)
}

/** Reads what was typed as metadata: an object, nothing for an empty text, or why it is neither. */
export function metadataOf(written: string): { value?: Record<string, unknown> | null; bad?: string } {
  if (!written.trim()) return { value: null }
  try {
    const value: unknown = JSON.parse(written)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown> }
    return { bad: text.access.people.metadataObject }
  } catch (e) {
    return { bad: text.access.people.metadataJson(e instanceof Error ? e.message : String(e)) }
  }
}

/** Writes metadata to be edited. */
export function writtenMetadata(metadata: object | null | undefined): string {
  return metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata, null, 2) : ''
}

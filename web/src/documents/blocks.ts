import type { Document } from './documents'

export type Part = NonNullable<Document['parts']>[number]
export type Table = NonNullable<Document['tables']>[number]
export type Image = NonNullable<Document['images']>[number]

/** A part with its number in the document, from 1. */
export interface Numbered {
  n: number
  part: Part
}

/** A piece of a document as people read it. */
export type Block =
  | { is: 'heading'; depth: number; parts: Numbered[] }
  | { is: 'text'; parts: Numbered[] }
  | { is: 'table'; table: Table; parts: Numbered[] }
  | { is: 'picture'; image: Image; parts: Numbered[] }

/**
 * Puts the parts of a document together again: what stood in one paragraph is one text, and the rows of a table are the table.
 * Tables and pictures that no part names come at the end.
 */
export function blocksOf(d: Document): Block[] {
  const tables = new Map((d.tables ?? []).map((t) => [t.id, t]))
  const images = new Map((d.images ?? []).map((i) => [i.id, i]))
  const seen = new Set<Table | Image>()
  const out: Block[] = []
  for (const [i, part] of (d.parts ?? []).entries()) {
    const one = { n: i + 1, part }
    const last = out.at(-1)
    const table = part.table_id ? tables.get(part.table_id) : undefined
    const image = part.image_id ? images.get(part.image_id) : undefined
    if (table) {
      if (last?.is === 'table' && last.table === table) last.parts.push(one)
      else out.push({ is: 'table', table, parts: [one] })
      seen.add(table)
    } else if (image) {
      if (last?.is === 'picture' && last.image === image) last.parts.push(one)
      else out.push({ is: 'picture', image, parts: [one] })
      seen.add(image)
    } else if (part.metadata?.is_title === true) out.push({ is: 'heading', depth: depthOf(part), parts: [one] })
    else if (last?.is === 'text' && follows(last.parts.at(-1)?.part, part)) last.parts.push(one)
    else out.push({ is: 'text', parts: [one] })
  }
  for (const table of tables.values()) if (!seen.has(table)) out.push({ is: 'table', table, parts: [] })
  for (const image of images.values()) if (!seen.has(image)) out.push({ is: 'picture', image, parts: [] })
  return out
}

/** How deep the section of a heading is; 0 for the title of the document. */
function depthOf(part: Part): number {
  const above = part.metadata?.breadcrumb
  return part.metadata?.section === 0 ? 0 : 1 + (Array.isArray(above) ? above.length : 0)
}

/** Reports whether a part stood right behind another one, with a space or nothing between them. */
function follows(before: Part | undefined, part: Part): boolean {
  const [a, b] = [before?.metadata, part.metadata]
  if (!a || !b || a.section !== b.section) return false
  const gap = Number(b.offset) - (Number(a.offset) + Number(a.len))
  return gap === 0 || gap === 1
}

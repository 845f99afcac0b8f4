import { literal } from '../parts/filter/complete'
import type { Statistics } from './corpora'

/** Returns the condition that an attribute has a value, or a list holds it. */
export function conditionOf(name: string, type: Statistics['type'], value: unknown): string {
  return type.startsWith('list[') ? `${literal(value)} IN ${name}` : `${name} = ${literal(value)}`
}

/** Adds a condition to a filter. One that is there already is not added twice. */
export function joined(filter: string, condition: string): string {
  if (!filter) return condition
  return filter.split(' AND ').includes(condition) ? filter : `${filter} AND ${condition}`
}

/** Returns the moment that a date field means on the clock of the reader, as the service writes it; empty for none. */
export function momentOf(local: string): string {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

/** Returns a moment as a date field has it, on the clock of the reader, to the second; empty for what is none. */
export function localOf(moment: string): string {
  const at = new Date(moment)
  if (Number.isNaN(at.getTime())) return ''
  const two = (n: number) => String(n).padStart(2, '0')
  const date = `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

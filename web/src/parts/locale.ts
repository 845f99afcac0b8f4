const numbers = new Intl.NumberFormat()
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Writes a number as the reader does. */
export const number = (n: number) => numbers.format(n)

/** Writes the day of a moment, which the service gives as RFC 3339. */
export const day = (at: string) => days.format(new Date(at))

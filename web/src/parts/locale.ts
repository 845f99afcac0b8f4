// Four digits stand without a separator, since they are years as often as amounts.
const numbers = new Intl.NumberFormat(undefined, { useGrouping: 'min2' })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Writes a number as the reader does. */
export const number = (n: number) => numbers.format(n)

/** Writes the day of a moment, which the service gives as RFC 3339. */
export const day = (at: string) => days.format(new Date(at))

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Writes a moment to the minute, in the time zone of the reader. */
export const moment = (at: string) => moments.format(new Date(at))

/** Writes a number with a fixed count of decimals. */
export const decimal = (n: number, digits: number) =>
  n.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits })

const seconds = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Writes a moment to the second, in the time zone of the reader. */
export const second = (at: string) => seconds.format(new Date(at))

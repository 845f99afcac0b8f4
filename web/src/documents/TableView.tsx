import { useState } from 'react'
import type { components } from '../api/schema'
import { Button } from '../parts/Button'
import { Long } from '../parts/Long'
import { number } from '../parts/locale'
import { text } from '../text/en'
import type { Table } from './blocks'

type Cell = components['schemas']['Row'][number]

/** How many rows are shown at once. */
const some = 100

function contentOf(cell: Cell): string {
  const value = cell.text_value ?? cell.int_value ?? cell.float_value ?? cell.bool_value
  return value === undefined || value === null ? '' : String(value)
}

/** How many columns or rows a cell takes; more than a thousand is a mistake. */
const span = (n: number | undefined) => (n && n > 1 ? Math.min(n, 1000) : undefined)

/** A table of a document. */
export function TableView({ table }: { table: Table }) {
  const [most, setMost] = useState(some)
  const rows = table.data?.rows ?? []
  return (
    <figure className="table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is moved by keys */}
      <section className="scrolls" tabIndex={0} aria-label={table.title || text.document.table}>
        <table>
          {(table.title || table.description) && (
            <caption>
              {table.title && <strong dir="auto">{table.title}</strong>}
              {table.description && <span dir="auto">{table.description}</span>}
            </caption>
          )}
          <thead>
            {table.data?.headers?.map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing but their place
              <tr key={i}>
                {row.map((cell, j) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <th key={j} scope="col" colSpan={span(cell.colspan)} rowSpan={span(cell.rowspan)} dir="auto">
                    <Long text={contentOf(cell)} most={500} />
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {rows.slice(0, most).map((row, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <tr key={i}>
                {row.map((cell, j) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={j} colSpan={span(cell.colspan)} rowSpan={span(cell.rowspan)} dir="auto">
                    <Long text={contentOf(cell)} most={500} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > most && (
        <Button onClick={() => setMost(most + 10 * some)}>
          {text.document.moreRows(number(most), number(rows.length))}
        </Button>
      )}
    </figure>
  )
}

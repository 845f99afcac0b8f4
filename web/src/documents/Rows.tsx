import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type KeyboardEvent, memo, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Link } from 'wouter'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import { addressOf } from './address'
import { cellOf, cut, titleOf } from './cells'
import type { Document } from './documents'

/** How far a list was scrolled, so that it is there again for whoever comes back from a document. */
const scrolled = new Map<string, number>()

interface RowProps {
  document: Document
  columns: string[]
  index: number
  active: boolean
  chosen: boolean
  choose?: (id: string, on: boolean) => void
}

const Cells = memo(({ document: d, columns, index, active, chosen, choose }: RowProps) => {
  const title = titleOf(d.metadata)
  return (
    <>
      {choose && (
        // biome-ignore lint/a11y/useSemanticElements: a table can't leave out the rows that are not seen
        // biome-ignore lint/a11y/useFocusableInteractive: what is in the cell takes the focus
        <div role="gridcell" className="choose">
          <label>
            <span className="hidden-text">{text.documents.chooseOne(cut(d.id, 60))}</span>
            <input
              type="checkbox"
              tabIndex={active ? 0 : -1}
              checked={chosen}
              onChange={(e) => choose(d.id, e.target.checked)}
            />
          </label>
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="id">
        <Link href={addressOf(d.id)} tabIndex={active ? 0 : -1} data-row={index}>
          <Name>{cut(d.id)}</Name>
        </Link>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" data-name={text.documents.title} data-empty={!title}>
        <Name>{cut(title)}</Name>
      </div>
      {columns.map((key) => {
        const value = cellOf(d.metadata?.[key])
        return (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          <div role="gridcell" key={key} data-name={cut(key, 40)} data-empty={!value}>
            <Name>{value}</Name>
          </div>
        )
      })}
    </>
  )
})

interface Props {
  /** Names the list, so that its place is known when somebody comes back. */
  name: string
  documents: Document[]
  /** How many there are in all, where that is known. */
  total?: number
  columns: string[]
  more: boolean
  readMore: () => void
  chosen: ReadonlySet<string>
  choose?: (id: string, on: boolean) => void
}

/** A list of any number of documents, of which only the rows that are seen are in the page. */
export function Rows({ name, documents, total, columns, more, readMore, chosen, choose }: Props) {
  const list = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const wanted = useRef<number>(undefined) // the row that gets the focus once it is there
  const at = Math.min(active, documents.length - 1)
  const rows = useVirtualizer({
    count: documents.length,
    getScrollElement: () => list.current,
    estimateSize: () => 42,
    overscan: 10,
    initialOffset: scrolled.get(name) ?? 0,
    getItemKey: (i) => documents[i]?.id ?? i,
    rangeExtractor: (range) => [...new Set([at, ...defaultRangeExtractor(range)])].sort((a, b) => a - b),
  })
  const shown = rows.getVirtualItems()
  const end = rows.range?.endIndex ?? 0
  useEffect(() => {
    if (more && end >= documents.length - 60) readMore()
  }, [more, end, documents.length, readMore])
  const go = (to: number) => {
    const next = Math.max(0, Math.min(documents.length - 1, to))
    setActive(next)
    wanted.current = next
    rows.scrollToIndex(next)
  }
  useLayoutEffect(() => {
    if (wanted.current === undefined || wanted.current !== at) return
    wanted.current = undefined
    list.current?.querySelector<HTMLElement>(`[data-row="${at}"]`)?.focus({ preventScroll: true })
  }, [at])
  const keys = (e: KeyboardEvent) => {
    const page = Math.max(1, shown.length - 20)
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -at, End: documents.length - at }[
      e.key
    ]
    if (by === undefined || e.altKey || e.ctrlKey || e.metaKey) return
    e.preventDefault()
    go(at + by)
  }
  const style = { '--columns': columns.length + 2 } as CSSProperties
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table can't leave out the rows that are not seen
    <div
      ref={list}
      className="grid"
      role="grid"
      tabIndex={-1}
      style={style}
      data-choose={choose !== undefined}
      aria-label={text.documents.list}
      aria-rowcount={total === undefined ? -1 : total + 1}
      aria-colcount={columns.length + (choose ? 3 : 2)}
      onKeyDown={keys}
      onScroll={(e) => scrolled.set(name, e.currentTarget.scrollTop)}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: rows are moved through by their links */}
      <div role="row" className="grid-line head" aria-rowindex={1}>
        {choose && (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          <div role="columnheader">
            <span className="hidden-text">{text.documents.choice}</span>
          </div>
        )}
        {[text.documents.id, text.documents.title, ...columns].map((key, i) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          // biome-ignore lint/a11y/useFocusableInteractive: as above
          // biome-ignore lint/suspicious/noArrayIndexKey: a column of metadata may be called as the first two
          <div role="columnheader" key={i}>
            <Name>{cut(key, 40)}</Name>
          </div>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" className="all" style={{ height: rows.getTotalSize() }}>
        {shown.map((v) => {
          const d = documents[v.index]
          return (
            d && (
              // biome-ignore lint/a11y/useSemanticElements: as above
              // biome-ignore lint/a11y/useFocusableInteractive: as above
              <div
                role="row"
                key={v.key}
                ref={rows.measureElement}
                data-index={v.index}
                className="grid-line"
                aria-rowindex={v.index + 2}
                aria-selected={choose ? chosen.has(d.id) : undefined}
                style={{ transform: `translateY(${v.start}px)` }}
                onFocus={() => setActive(v.index)}
              >
                <Cells
                  document={d}
                  columns={columns}
                  index={v.index}
                  active={v.index === at}
                  chosen={chosen.has(d.id)}
                  choose={choose}
                />
              </div>
            )
          )
        })}
      </div>
    </div>
  )
}

import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { Long } from '../Long'
import { Name } from '../Name'
import type { Passage } from './answer'
import './answer.css'

/** Returns what a passage is called: the title of its document, else its id. */
export function titleOf(p: Passage | undefined): string {
  const title = p?.document_metadata?.title
  return (typeof title === 'string' && title) || p?.document_id || ''
}

/** Returns the address of the page of a passage's document. */
function documentOf(p: Passage): string {
  return `~/console/corpora/${encodeURIComponent(p.corpus_key ?? '')}/documents/${encodeURIComponent(p.document_id ?? '')}`
}

/** Passages by number. The one that is shown has the focus, so that its text is read from there. */
export function Passages({ all, shown }: { all: Passage[]; shown: number }) {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const one = list.current?.children[shown - 1] as HTMLElement | undefined
    one?.scrollIntoView({ block: 'nearest' })
    one?.focus({ preventScroll: true })
  }, [shown])
  return (
    <ol className="passages" ref={list}>
      {all.map((p, i) => (
        <li
          // biome-ignore lint/suspicious/noArrayIndexKey: a passage is known by its number
          key={i}
          className="card"
          tabIndex={-1}
          data-shown={shown === i + 1}
        >
          <p className="source">
            <span>
              {i + 1} ·{' '}
              <Link href={documentOf(p)}>
                <Name>{titleOf(p)}</Name>
              </Link>
            </span>
            <span>{p.score?.toFixed(3)}</span>
          </p>
          <p>
            <Long text={p.text ?? ''} most={2000} />
          </p>
        </li>
      ))}
    </ol>
  )
}

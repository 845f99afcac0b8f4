import { memo, type ReactNode, useMemo } from 'react'
import { text } from '../../text/en'
import { closed } from '../bidi'
import type { Passage } from './answer'
import { type Block, blocksOf, cut } from './blocks'
import { type Inline, inline } from './inline'
import { titleOf } from './Passages'

interface Cited {
  passages: Passage[]
  open: (n: number) => void
}

/** A link out of the console, whose host is shown: what it is called says nothing about where it leads. */
function Out({ href, host, children }: { href: string; host: string; children: ReactNode }) {
  return (
    <>
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        <bdi>{children}</bdi>
      </a>{' '}
      <bdi dir="ltr" className="host">
        {host}
      </bdi>
    </>
  )
}

function Piece({ one, of }: { one: Inline; of: Cited }): ReactNode {
  const inside = 'inside' in one && <Line all={one.inside} of={of} />
  switch (one.kind) {
    case 'text':
      return closed(one.text)
    case 'code':
      return <code>{closed(one.text)}</code>
    case 'em':
      return <em>{inside}</em>
    case 'strong':
      return <strong>{inside}</strong>
    case 'struck':
      return <s>{inside}</s>
    case 'link':
      return (
        <Out href={one.href} host={one.host}>
          {inside}
        </Out>
      )
    case 'passage':
      return (
        <button
          type="button"
          className="mark"
          aria-label={text.ask.citation(one.n, titleOf(of.passages[one.n - 1]))}
          onClick={() => of.open(one.n)}
        >
          {one.n}
        </button>
      )
  }
}

function Line({ all, of }: { all: Inline[]; of: Cited }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces only grow at their end
  return all.map((one, i) => <Piece key={i} one={one} of={of} />)
}

const Text = ({ of, cited }: { of: string; cited: Cited }) => (
  <Line all={inline(of, cited.passages.length)} of={cited} />
)

function Table({ head, rows, cited }: { head: string[]; rows: string[][]; cited: Cited }) {
  // biome-ignore-start lint/suspicious/noArrayIndexKey: cells have nothing but their place
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is moved by keys
    <section className="wide" tabIndex={0} aria-label={text.answer.table}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} scope="col" dir="auto">
                <Text of={cell} cited={cited} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.slice(0, head.length).map((cell, j) => (
                <td key={j} dir="auto">
                  <Text of={cell} cited={cited} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
  // biome-ignore-end lint/suspicious/noArrayIndexKey: as above
}

function One({ block: b, cited }: { block: Block; cited: Cited }): ReactNode {
  switch (b.kind) {
    case 'text':
      return (
        <p dir="auto">
          <Text of={b.text} cited={cited} />
        </p>
      )
    case 'heading':
      return (
        <h3 dir="auto">
          <Text of={b.text} cited={cited} />
        </h3>
      )
    case 'code':
      return (
        <pre dir="ltr">
          <code>{b.text}</code>
        </pre>
      )
    case 'rule':
      return <hr />
    case 'quote':
      return (
        <blockquote>
          <Blocks all={b.blocks} cited={cited} />
        </blockquote>
      )
    case 'table':
      return <Table head={b.head} rows={b.rows} cited={cited} />
    case 'list':
      return b.start === undefined ? (
        <ul>
          <Items all={b.items} cited={cited} />
        </ul>
      ) : (
        <ol start={b.start}>
          <Items all={b.items} cited={cited} />
        </ol>
      )
  }
}

function Items({ all, cited }: { all: Block[][]; cited: Cited }): ReactNode {
  return all.map((one, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items only grow at their end
    <li key={i} dir="auto">
      <Blocks all={one} cited={cited} />
    </li>
  ))
}

function Blocks({ all, cited }: { all: Block[]; cited: Cited }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks only grow at their end
  return all.map((b, i) => <One key={i} block={b} cited={cited} />)
}

/** A part of an answer. What was written before is not made again with each word. */
const Part = memo(function Part({ of, passages, open }: Cited & { of: string }) {
  return <Blocks all={blocksOf(of)} cited={{ passages, open }} />
})

// A text beyond this is no answer for people, and shown as it is.
const longest = 100_000

/** A text of a language model with its Markdown. What is markup in it stays text: elements are made here alone. */
export function Markdown({ of, passages, open }: Cited & { of: string }) {
  const parts = useMemo(() => (of.length > longest ? undefined : cut(of)), [of])
  if (!parts)
    return (
      <p className="as-is" dir="auto">
        {of}
      </p>
    )
  // biome-ignore lint/suspicious/noArrayIndexKey: pieces only grow at their end
  return parts.map((part, i) => <Part key={i} of={part} passages={passages} open={open} />)
}

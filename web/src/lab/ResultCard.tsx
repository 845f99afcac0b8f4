import { type ReactNode, useId, useMemo } from 'react'
import { Link } from 'wouter'
import { Long } from '../parts/Long'
import { decimal } from '../parts/locale'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import type { Result } from './compare'
import { Folded } from './Folded'
import { askedFor, inContext, pieces } from './passage'
import { type Part, sourceOf, steps } from './score'

const t = text.lab

/** Names a part of a score for people. */
function nameOf(part: string): string {
  const s = sourceOf(part)
  switch (s.kind) {
    case 'stage':
      return t.part.stage(s.index + 1, t.part.types[s.type] ?? s.type, s.part)
    case 'dimension':
      return t.part.dimension(s.name)
    case 'other':
      return s.name
    default:
      return t.part[s.kind]
  }
}

const signed = (n: number) => (n < 0 ? '−' : '+') + decimal(Math.abs(n), 4)

/** The score as a bar of its parts, one behind the other, which ends at the score. What takes away is striped. */
function Bar({ parts, score }: { parts: Part[]; score: number }) {
  const id = useId()
  const { steps: all, zero, end } = steps(parts)
  const label = t.result.bar(all.map((s) => `${nameOf(s.name)} ${signed(s.value)}`).join(', '), decimal(score, 3))
  const height = all.length * 6
  return (
    <svg
      className="score-bar"
      viewBox={`0 0 100 ${height}`}
      height={height + 2}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <defs>
        <pattern id={`${id}-less`} width="2" height="6" patternUnits="userSpaceOnUse">
          <rect width="1.2" height="6" />
        </pattern>
      </defs>
      <line x1={zero} x2={zero} y1="0" y2={height} className="zero" />
      {all.map((s, i) => (
        <rect
          key={s.name}
          className={s.value < 0 ? 'less' : 'more'}
          fill={s.value < 0 ? `url(#${id}-less)` : undefined}
          x={s.from}
          width={Math.max(s.to - s.from, 0.3)}
          y={i * 6 + 0.5}
          height="5"
        />
      ))}
      <line x1={end} x2={end} y1="0" y2={height} className="end" />
    </svg>
  )
}

function Explained({ parts, score }: { parts: Part[]; score: number }) {
  return (
    <table className="explained">
      <thead>
        <tr>
          <th scope="col">{t.result.partOf}</th>
          <th scope="col">{t.result.value}</th>
          <th scope="col">{t.result.total}</th>
        </tr>
      </thead>
      <tbody>
        {steps(parts).steps.map((s) => (
          <tr key={s.name}>
            <th scope="row">
              {nameOf(s.name)} <code>{s.name}</code>
            </th>
            <td>{signed(s.value)}</td>
            <td>{decimal(s.total, 4)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{t.score}</th>
          <td />
          <td>{decimal(score, 4)}</td>
        </tr>
      </tfoot>
    </table>
  )
}

function Metadata({ of, title }: { of: Record<string, unknown> | undefined; title: string }) {
  const entries = Object.entries(of ?? {})
  return (
    <>
      <h4>{title}</h4>
      {entries.length === 0 ? (
        <p className="about">{t.result.noMetadata}</p>
      ) : (
        <dl className="metadata">
          {entries.map(([key, value]) => (
            <div key={key}>
              <dt>
                <code>{key}</code>
              </dt>
              <dd dir="auto">
                <Long text={typeof value === 'string' ? value : JSON.stringify(value)} most={1000} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </>
  )
}

interface Props {
  result: Result
  query: string
  tags: { start: string; end: string }
  /** What stands in front of the title: the rank, or how it has changed. */
  rank: ReactNode
}

/** A passage in its context with the words of the query marked, its metadata, and what its score is made of. */
export function ResultCard({ result, query, tags, rank }: Props) {
  const asked = useMemo(() => askedFor(query), [query])
  const c = inContext(result.text ?? '', tags.start, tags.end)
  const long = (result.text?.length ?? 0) > 2000
  const title = result.document_metadata?.title
  const above = result.part_metadata?.breadcrumb
  const parts = result.explanation ?? []
  const score = result.score ?? 0
  const address = `~/console/corpora/${encodeURIComponent(result.corpus_key ?? '')}/documents/${encodeURIComponent(result.document_id ?? '')}`
  const shown = (s: string) =>
    pieces(s, asked).map((p, i) =>
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a text have no other name
      p.marked ? <mark key={i}>{p.text}</mark> : p.text,
    )
  return (
    <>
      <div className="result-head">
        {rank}
        <h3>
          <Link href={address}>
            <Name>{(typeof title === 'string' && title) || result.document_id}</Name>
          </Link>
        </h3>
        <span className="score">{decimal(score, 3)}</span>
      </div>
      <p className="about">
        <code>{result.corpus_key}</code> · <Name>{result.document_id}</Name>
        {Array.isArray(above) && above.length > 0 && (
          <>
            {' · '}
            <Name>{above.join(' › ')}</Name>
          </>
        )}
      </p>
      {parts.length > 0 && <Bar parts={parts} score={score} />}
      <p className="in-context" dir="auto" data-long={long} tabIndex={long ? 0 : undefined}>
        {c.before && (
          <span className="around">
            <Long text={c.before} show={shown} />
          </span>
        )}
        <span className="match">
          <Long text={c.match} show={shown} />
        </span>
        {c.after && (
          <span className="around">
            <Long text={c.after} show={shown} />
          </span>
        )}
      </p>
      <div className="unfolds">
        {parts.length > 0 && (
          <Folded title={t.result.explained}>
            <Explained parts={parts} score={score} />
          </Folded>
        )}
        <Folded title={t.result.metadata}>
          <Metadata title={t.result.document} of={result.document_metadata} />
          <Metadata title={t.result.part} of={result.part_metadata} />
        </Folded>
      </div>
    </>
  )
}

import { Link } from 'wouter'
import { AnswerText } from '../parts/answer/AnswerText'
import { closed } from '../parts/bidi'
import { Loading } from '../parts/Loading'
import { Long } from '../parts/Long'
import { decimal, moment, number } from '../parts/locale'
import { Name } from '../parts/Name'
import { Unread } from '../parts/Unread'
import { text } from '../text/en'
import { write } from './address'
import { Folded } from './Folded'
import { type Record, type Span, timeline, useRecord } from './history'
import { settingsOf } from './settings'

const t = text.history

interface Line {
  text?: string
  score?: number
  original_score?: number
  document_id?: string
}

/** Passages with their scores; behind a reranker with those that they had before. */
function Lines({ all }: { all: Line[] }) {
  return (
    <ol className="lines">
      {all.map((r, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result is known by its rank
        <li key={i}>
          <span className="score">{decimal(r.score ?? 0, 3)}</span>
          {r.original_score !== undefined && <span className="about">{t.was(decimal(r.original_score, 3))}</span>}
          <span className="line" dir="auto">
            {r.document_id && <Name className="about">{`${r.document_id} `}</Name>}
            <Long text={r.text ?? ''} most={1000} />
          </span>
        </li>
      ))}
    </ol>
  )
}

/** What a step of a query has made. */
function Made({ span }: { span: Span }) {
  switch (span.type) {
    case 'search':
      return (
        <Folded title={t.results((span.search_results ?? []).length)}>
          <Lines all={span.search_results ?? []} />
        </Folded>
      )
    case 'rerank':
      return (
        <Folded title={t.results((span.reranked_search_results ?? []).length)}>
          <Lines all={span.reranked_search_results ?? []} />
        </Folded>
      )
    case 'generation':
      return (
        <>
          <AnswerText of={span.generation ?? ''} />
          {span.evidence !== undefined && <p>{t.evidence(decimal(span.evidence, 2))}</p>}
          {span.prompt && (
            <Folded title={t.prompt}>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long prompt is scrolled by keys */}
              <pre tabIndex={0}>
                <Long text={span.prompt} most={20_000} />
              </pre>
            </Folded>
          )}
        </>
      )
    case 'fcs':
      return <p>{t.supports(decimal(span.score ?? 0, 2))}</p>
    case 'rephrase':
      return (
        <p>
          {t.rephrased}: <q dir="auto">{closed(span.rephrased_query ?? '')}</q>
        </p>
      )
    case 'rewritten_query':
      return (
        <>
          {(span.warnings ?? []).map((w) => (
            <p key={w}>{t.warnings[w] ?? w}</p>
          ))}
          {span.filter_extraction?.metadata_filter && (
            <p>
              <code>{span.corpus_key}</code> {t.extracted}: <code>{span.filter_extraction.metadata_filter}</code>{' '}
              {t.rephrased}: <q dir="auto">{closed(span.filter_extraction.query ?? '')}</q>
            </p>
          )}
        </>
      )
  }
}

function Timeline({ of }: { of: Record }) {
  return (
    <ol className="timeline">
      {timeline(of).map((s, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its place
        <li key={i}>
          <p className="step">
            <strong>{t.spans[s.span.type] ?? s.span.type}</strong>
            <span className="about">{t.at(number(s.begins), number(s.takes))}</span>
          </p>
          <svg viewBox="0 0 100 6" height="8" preserveAspectRatio="none" aria-hidden="true" className="span-bar">
            <rect className="track" width="100" height="6" />
            <rect className="more" x={Math.min(s.from, 99)} width={Math.max(s.width, 1)} height="6" />
          </svg>
          <Made span={s.span} />
        </li>
      ))}
    </ol>
  )
}

/** One query that was kept: what was asked, how its steps went, and the way back into the lab. */
export function Kept({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useRecord(id)
  if (isPending) return <Loading />
  if (error || !data) return <Unread error={error} missing={t.missing} again={refetch} />
  const asked = data.query
  const of = [
    [t.of.chat, data.chat_id],
    [t.of.agent, data.agent_key],
    [t.of.session, data.session_key],
  ].filter(([, v]) => v)
  return (
    <div className="lab stack">
      <p>
        <Link href="/history">{t.back}</Link>
      </p>
      <h1 dir="auto">{asked?.query}</h1>
      <p className="about">
        {data.started_at && <time dateTime={data.started_at}>{moment(data.started_at)}</time>} ·{' '}
        {t.took(number(data.latency_millis ?? 0))} · <code>{data.id}</code>
        {of.map(([name, v]) => (
          <span key={name}>
            {' '}
            · {name} <code>{v}</code>
          </span>
        ))}
      </p>
      {asked && (
        <div className="row">
          <Link
            className="button"
            data-kind="first"
            href={`/?${write({ query: asked.query, missing: '', settings: settingsOf(asked) })}`}
          >
            {t.openInLab}
          </Link>
        </div>
      )}
      <h2>{t.timeline}</h2>
      <Timeline of={data} />
    </div>
  )
}

import { number } from '../parts/locale'
import { text } from '../text/en'
import { type Change, type Compared, compare, counted, type Ranked } from './compare'
import { ResultCard } from './ResultCard'

const t = text.lab

interface One {
  query: string
  found: Ranked & { start: string; end: string }
  /** Results that were skipped. */
  offset: number
}

/** The results of one search. */
export function Results({ query, found, offset }: One) {
  return (
    <ol className="results" aria-label={t.results.title}>
      {found.results.map((r, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a result is known by its rank
        <li key={i} className="card">
          <ResultCard
            result={r}
            query={query}
            tags={found}
            rank={<span className="rank">{number(offset + i + 1)}</span>}
          />
        </li>
      ))}
    </ol>
  )
}

const signs: Record<Change, string> = { rose: '▲', fell: '▼', stayed: '=', came: '+', went: '−' }

function Moved({ of }: { of: Compared }) {
  const rank = (n: number | undefined) => (n === undefined ? t.changed.absent : number(n))
  const words = of.change === 'rose' || of.change === 'fell' ? t.changed[of.change](of.by) : t.changed[of.change]
  return (
    <span className="moved" data-change={of.change}>
      <span className="rank">{t.changed.ranks(rank(of.first), rank(of.second))}</span>
      <span aria-hidden="true">{signs[of.change]}</span> {words}
    </span>
  )
}

interface Both {
  query: string
  first: Ranked & { start: string; end: string }
  second: Ranked & { start: string; end: string }
}

/** The results of two searches in one list, with what rose, fell, came and went. */
export function Changes({ query, first, second }: Both) {
  const all = compare(first, second)
  return (
    <>
      <h2>{t.changed.title}</h2>
      <p>
        <strong>{t.changed.counts(counted(all))}</strong>{' '}
        <span className="about">{t.changed.summary(first.results.length, second.results.length)}</span>
      </p>
      <ol className="results" aria-label={t.changed.title}>
        {all.map((c) => (
          <li key={c.key} className="card" data-change={c.change}>
            <ResultCard
              result={c.result}
              query={query}
              tags={c.change === 'went' ? first : second}
              rank={<Moved of={c} />}
            />
          </li>
        ))}
      </ol>
    </>
  )
}

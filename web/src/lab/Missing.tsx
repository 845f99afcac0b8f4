import type { components } from '../api/schema'
import { Button } from '../parts/Button'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import type { Answer } from './search'
import type { Settings } from './settings'

const t = text.lab.missing

type Stage = components['schemas']['AbsentDocument']['stage']

/** Returns settings that would let a document through the step that left it out; nothing where none would. */
export function lettingThrough(stage: Stage, s: Settings): Settings | undefined {
  switch (stage) {
    case 'not_found':
      return undefined
    case 'filter':
      return s.corpora.some((c) => c.filter)
        ? { ...s, corpora: s.corpora.map((c) => ({ ...c, filter: '' })) }
        : undefined
    case 'candidates':
      return s.corpora.every((c) => c.lambda === 0.5)
        ? undefined
        : { ...s, corpora: s.corpora.map((c) => ({ ...c, lambda: 0.5 })) }
    case 'max_by':
      return { ...s, best: undefined }
    case 'cutoff':
      return {
        ...s,
        stages: s.stages.filter((one) => one.type !== 'userfn').map((one) => ({ ...one, cutoff: undefined })),
      }
    case 'limit':
      return {
        ...s,
        limit: Math.max(100, s.limit ?? 0),
        offset: undefined,
        stages: s.stages.map((one) => ({ ...one, limit: undefined })),
      }
  }
}

interface Props {
  id: string
  answer: Answer
  settings: Settings
  /** Searches with other settings. */
  run: (next: Settings) => void
  /** It is about an earlier search, and keeps the place of what comes. */
  old: boolean
  /** Which of two settings this is about. */
  under?: string
}

/** Which step left a document out of the results, and what would change that. */
export function Missing({ id, answer, settings, run, old, under }: Props) {
  const offset = settings.offset ?? 0
  const ranks = (answer.search_results ?? []).flatMap((r, i) => (r.document_id === id ? [number(offset + i + 1)] : []))
  const absent = answer.absent_document
  const other = absent && lettingThrough(absent.stage, settings)
  return (
    <section className="missing card" role="status" data-stage={absent?.stage} data-old={old}>
      {under && <h2>{under}</h2>}
      {!absent ? (
        <p>
          <strong>{t.there(id, ranks.join(', '))}</strong>
        </p>
      ) : (
        <>
          <p>
            <strong>
              <Name>{t.gone(id)}</Name>
            </strong>{' '}
            {t.stages[absent.stage]}
          </p>
          {absent.detail && (
            <p className="about">
              {t.because} {absent.detail}.
            </p>
          )}
          <p>
            {t.change} {t.advice[absent.stage]}
          </p>
          {other && absent.stage !== 'not_found' && <Button onClick={() => run(other)}>{t.tries[absent.stage]}</Button>}
        </>
      )}
    </section>
  )
}

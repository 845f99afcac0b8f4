import { useEffect, useState } from 'react'
import { text } from '../../text/en'
import { announce } from '../announce'
import { Button } from '../Button'
import { Failed } from '../Failed'
import { Long } from '../Long'
import { Name } from '../Name'
import { AnswerText } from './AnswerText'
import type { Answer } from './answer'
import { useAnswerer } from './answerer'
import { closeness } from './evidence'
import { Passages } from './Passages'
import './answer.css'

/** Says what a warning of the service means; its first word is its name. */
function sentence(warning: string): string {
  const name = warning.split(':')[0] ?? ''
  return name in text.warnings ? text.warnings[name as keyof typeof text.warnings] : warning
}

/** Says who answered, and where it quotes that it does. An answer of the generator inside that cites nothing has found nothing. */
function Credit({ answer, by }: { answer: Answer; by: ReturnType<typeof useAnswerer> }) {
  if (!by || answer.passages.length === 0) return null
  const style = answer.generation.citations?.style ?? 'numeric'
  const quotes = by.inside && (style !== 'numeric' || /\[\d+\]/.test(answer.text))
  return (
    <p className="support">
      <Name>{by.alias ? text.answer.alias(by.alias, by.name) : text.answer.by(by.name)}</Name>{' '}
      {quotes && text.answer.quoted}
    </p>
  )
}

/**
 * An answer with what supports it: score, warnings, the prompt, and its passages. While it is written, the passages are shown
 * only to whoever wants one, since the text that grows would push them away.
 */
export function AnswerView({ answer, again }: { answer: Answer; again: () => void }) {
  const [shown, setShown] = useState(0)
  const by = useAnswerer(answer.generation) // asked for now, so that it is known when the answer ends
  useEffect(() => {
    if (answer.state === 'searching') {
      setShown(0)
      announce(text.ask.searching)
    }
    if (answer.state === 'done') announce(text.ask.answered)
  }, [answer.state])
  if (answer.state === 'none') return null
  const busy = answer.state === 'searching' || answer.state === 'writing'
  const n = answer.passages.length
  return (
    <div className="stack">
      <p className="row support progress">
        {answer.state === 'searching' && n === 0 ? text.ask.searching : text.ask.found(n)}
        {busy && n > 0 && shown === 0 && (
          <Button kind="quiet" onClick={() => setShown(1)}>
            {text.ask.showPassages}
          </Button>
        )}
      </p>
      {answer.rephrased && answer.rephrased !== answer.question && (
        <p className="support">
          {text.ask.rephrased} <q>{answer.rephrased}</q>
        </p>
      )}
      {answer.error !== undefined && <Failed error={answer.error} again={again} />}
      {answer.text && <AnswerText of={answer.text} passages={answer.passages} open={setShown} />}
      {answer.state === 'stopped' && <p className="support">{text.ask.stopped}</p>}
      {answer.evidence !== undefined ? (
        <p className="support">{text.ask.evidence[closeness(answer.evidence)](answer.evidence.toFixed(2))}</p>
      ) : (
        answer.score !== undefined && <p className="support">{text.ask.score(answer.score.toFixed(2))}</p>
      )}
      {answer.warnings.map((w) => (
        <p className="support" key={w}>
          {sentence(w)}
        </p>
      ))}
      {answer.state === 'done' && answer.text && <Credit answer={answer} by={by} />}
      {answer.prompt && answer.state === 'done' && by !== null && (
        <details className="prompt">
          <summary>{text.ask.prompt}</summary>
          <pre>
            <Long text={answer.prompt} most={20_000} />
          </pre>
        </details>
      )}
      {answer.state === 'done' && n === 0 && <p className="empty">{text.ask.none}</p>}
      {n > 0 && ((!busy && by !== null) || shown > 0) && (
        <>
          <h2>{text.ask.passages}</h2>
          <Passages all={answer.passages} shown={shown} />
        </>
      )}
    </div>
  )
}

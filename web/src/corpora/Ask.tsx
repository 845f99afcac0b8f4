import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { AnswerKnobs } from '../parts/answer/AnswerKnobs'
import { AnswerView } from '../parts/answer/AnswerView'
import { type Question, useAnswer } from '../parts/answer/answer'
import { useAnswerer } from '../parts/answer/answerer'
import { type Generation, generationOf, useKnobs } from '../parts/answer/knobs'
import { QuestionLine } from '../parts/answer/QuestionLine'
import { useKept } from '../parts/draft'
import { useSearchParams } from '../parts/searchParams'
import { text } from '../text/en'

/** Returns a question to one corpus, with a sentence around each passage. */
function questionTo(corpus: string, query: string, generation: Generation): Question {
  const search = {
    corpora: [{ corpus_key: corpus }],
    limit: 10,
    context_configuration: { sentences_before: 1, sentences_after: 1 },
  }
  return { path: '/v2/query', body: { query, search, generation } }
}

/**
 * A question to a corpus, its answer as it comes, and the passages that the answer cites. The address holds the question.
 * What stands below is shown where no answer is on its way, which would push it down.
 */
export function Ask({ corpus, below }: { corpus: string; below: ReactNode }) {
  const [search, setSearch] = useSearchParams()
  const asked = search.get('q')
  const [question, setQuestion] = useKept('question', asked ?? '')
  const [knobs, change] = useKnobs()
  const { answer, ask, stop } = useAnswer()
  const run = useEffectEvent((query: string) => void ask(questionTo(corpus, query, generationOf(knobs))))
  useEffect(() => {
    if (asked) run(asked)
  }, [asked])
  const submit = () => {
    if (question === asked) void ask(questionTo(corpus, question, generationOf(knobs)))
    else
      setSearch(
        (before) =>
          new URLSearchParams(
            [...new URLSearchParams(before).entries()].filter(([name]) => name !== 'q').concat([['q', question]]),
          ),
      )
  }
  const busy = answer.state === 'searching' || answer.state === 'writing'
  const begins = answer.state === 'none' && !!asked
  const settled = useAnswerer(answer.generation) !== null // what an answer ends with is known
  return (
    <>
      <section className="stack" aria-label={text.ask.title}>
        <QuestionLine
          value={question}
          change={setQuestion}
          busy={busy}
          submit={submit}
          stop={stop}
          label={text.ask.question}
        />
        <AnswerKnobs knobs={knobs} change={change} />
        {answer.text && <h2 className="hidden-text">{text.answer.heading}</h2>}
        <AnswerView answer={answer} again={() => void ask(questionTo(corpus, answer.question, answer.generation))} />
      </section>
      {!busy && !begins && settled && below}
    </>
  )
}

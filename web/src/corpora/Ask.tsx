import { useEffect, useState } from 'react'
import { useSearchParams } from 'wouter'
import { AnswerView } from '../parts/answer/AnswerView'
import { type Question, useAnswer } from '../parts/answer/answer'
import { QuestionLine } from '../parts/answer/QuestionLine'
import { text } from '../text/en'

/** Returns a question to one corpus, with a sentence around each passage. */
function questionTo(corpus: string, query: string): Question {
  const search = {
    corpora: [{ corpus_key: corpus }],
    limit: 10,
    context_configuration: { sentences_before: 1, sentences_after: 1 },
  }
  return { path: '/v2/query', body: { query, search, generation: {} } }
}

/** A question to a corpus, its answer as it comes, and the passages that the answer cites. The address holds the question. */
export function Ask({ corpus }: { corpus: string }) {
  const [search, setSearch] = useSearchParams()
  const asked = search.get('q')
  const [question, setQuestion] = useState(asked ?? '')
  const { answer, ask, stop } = useAnswer()
  useEffect(() => {
    if (asked) void ask(questionTo(corpus, asked))
  }, [asked, ask, corpus])
  const submit = () => {
    if (question === asked) void ask(questionTo(corpus, question))
    else setSearch({ q: question })
  }
  return (
    <section className="stack" aria-label={text.ask.title}>
      <QuestionLine
        value={question}
        change={setQuestion}
        busy={answer.state === 'searching' || answer.state === 'writing'}
        submit={submit}
        stop={stop}
        label={text.ask.question}
      />
      <AnswerView answer={answer} again={() => void ask(questionTo(corpus, answer.question))} />
    </section>
  )
}

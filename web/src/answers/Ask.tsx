import { type FormEvent, useEffect, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { text } from '../text/en'
import { type Answer, type Passage, useAnswer } from './answer'
import { pieces } from './marks'
import './answers.css'

/** Returns what a passage is called: the title of its document, else its id. */
function titleOf(p: Passage): string {
  const title = p.document_metadata?.title
  return (typeof title === 'string' && title) || p.document_id || ''
}

function Text({ answer, open }: { answer: Answer; open: (n: number) => void }) {
  return (
    <p className="answer" dir="auto">
      {pieces(answer.text, answer.passages.length).map((piece, i) =>
        'text' in piece ? (
          piece.text
        ) : (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces only grow at their end
            key={i}
            type="button"
            className="mark"
            aria-label={text.ask.citation(piece.passage, titleOf(answer.passages[piece.passage - 1] as Passage))}
            onClick={() => open(piece.passage)}
          >
            {piece.passage}
          </button>
        ),
      )}
    </p>
  )
}

function Passages({ all, shown }: { all: Passage[]; shown: number }) {
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
              {i + 1} · <bdi>{titleOf(p)}</bdi>
            </span>
            <span>{p.score?.toFixed(3)}</span>
          </p>
          <p>{p.text}</p>
        </li>
      ))}
    </ol>
  )
}

/** A question to a corpus, its answer as it comes, and the passages that the answer cites. The address holds the question. */
export function Ask({ corpus }: { corpus: string }) {
  const [search, setSearch] = useSearchParams()
  const [question, setQuestion] = useState(search.get('q') ?? '')
  const [shown, setShown] = useState(0)
  const { answer, ask, stop } = useAnswer(corpus)
  const busy = answer.state === 'searching' || answer.state === 'writing'
  const asked = search.get('q')
  useEffect(() => {
    if (asked) void ask(asked)
  }, [asked, ask])
  useEffect(() => {
    if (answer.state === 'searching') announce(text.ask.searching)
    if (answer.state === 'done') announce(text.ask.answered)
  }, [answer.state])
  const submit = (e: FormEvent) => {
    e.preventDefault()
    setShown(0)
    if (question === asked) void ask(question)
    else setSearch({ q: question })
  }
  return (
    <section className="ask stack" aria-label={text.ask.title}>
      <form onSubmit={submit}>
        <input
          className="input"
          aria-label={text.ask.question}
          placeholder={text.ask.question}
          value={question}
          onChange={(e) => setQuestion(e.target.value)}
          maxLength={5000}
          required
          dir="auto"
        />
        {busy ? (
          <Button onClick={stop}>{text.ask.stop}</Button>
        ) : (
          <Button kind="first" type="submit">
            {text.ask.submit}
          </Button>
        )}
      </form>
      {answer.error !== undefined && <Failed error={answer.error} again={() => void ask(answer.question)} />}
      {answer.text && <Text answer={answer} open={setShown} />}
      {answer.score !== undefined && <p className="support">{text.ask.score(answer.score.toFixed(2))}</p>}
      {answer.state === 'done' && answer.passages.length === 0 && <p className="empty">{text.ask.none}</p>}
      {answer.passages.length > 0 && (
        <>
          <h2>{text.ask.passages}</h2>
          <Passages all={answer.passages} shown={shown} />
        </>
      )}
    </section>
  )
}

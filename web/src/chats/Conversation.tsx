import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useLocation } from 'wouter'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { AnswerKnobs } from '../parts/answer/AnswerKnobs'
import { AnswerText } from '../parts/answer/AnswerText'
import { AnswerView } from '../parts/answer/AnswerView'
import { type Answer, useAnswer } from '../parts/answer/answer'
import { generationOf, useKnobs } from '../parts/answer/knobs'
import { QuestionLine } from '../parts/answer/QuestionLine'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { CorpusChoice } from '../parts/CorpusChoice'
import { useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { useSearchParams } from '../parts/searchParams'
import { Unread } from '../parts/Unread'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { questionOf, type Turn, useDeleteChat, useDeleteTurn, useDisableTurn, useSearched, useTurns } from './chats'
import './chats.css'

/** A turn that was stored. Answers of this visit show their passages, too. */
function Exchange({ turn, answer, chat }: { turn: Turn; answer?: Answer; chat: string }) {
  const may = useMay()
  const disable = useDisableTurn(chat)
  const remove = useDeleteTurn(chat)
  const error = disable.error ?? remove.error
  return (
    <li className="exchange" data-enabled={turn.enabled}>
      <h2 className="asked" dir="auto">
        {turn.query}
      </h2>
      {turn.enabled === false && <p className="tag">{text.chats.turnDisabled}</p>}
      {answer ? <AnswerView answer={answer} again={() => undefined} /> : <AnswerText of={turn.answer ?? ''} />}
      {error && <Failed error={error} />}
      <div className="row turn-actions">
        {turn.enabled !== false && may('updateChatTurn') && (
          <Button kind="quiet" onClick={() => disable.mutate(turn.id)}>
            {text.chats.disable}
          </Button>
        )}
        {may('deleteChatTurn') && (
          <Button kind="quiet" onClick={() => remove.mutate(turn.id)}>
            {text.chats.undo}
          </Button>
        )}
      </div>
    </li>
  )
}

// The answers of this visit by turn: the service keeps the text of a turn, and not the passages that it stood on.
const kept = new Map<string, Answer>()

/** Which corpora are asked: those of the address, else those that the chat searched last. */
function useCorpora(chat: string): [string[], (next: string[]) => void] {
  const [search, setSearch] = useSearchParams()
  const searched = useSearched(chat)
  const here = search.getAll('corpus')
  const change = (next: string[]) =>
    setSearch(
      (before) => {
        const all = new URLSearchParams(before)
        all.delete('corpus')
        for (const key of next) all.append('corpus', key)
        return all
      },
      { replace: true },
    )
  return [here.length > 0 || !chat ? here : (searched.data ?? []), change]
}

/** A conversation: its turns, the answer that is under way, and the next question. */
export function Conversation({ chat }: { chat: string }) {
  const [, go] = useLocation()
  const queries = useQueryClient()
  const turns = useTurns(chat)
  const [corpora, setCorpora] = useCorpora(chat)
  const [knobs, change] = useKnobs()
  const [question, setQuestion] = useKept('question', '')
  const [asks, setAsks] = useState(false)
  const { answer, ask, stop, clear } = useAnswer()
  const remove = useDeleteChat()
  const may = useMay()
  const busy = answer.state === 'searching' || answer.state === 'writing'
  const stored = turns.data?.turns ?? []

  useEffect(() => {
    if (answer.state !== 'done' || !answer.turn) return
    kept.set(answer.turn.turn, answer)
    setQuestion('')
    const found = answer.turn.chat
    void queries.invalidateQueries({ queryKey: ['chats', 'list'] })
    if (!chat) {
      go(`/${encodeURIComponent(found)}${location.search}`, { replace: true })
    } else void queries.invalidateQueries({ queryKey: ['chats', 'turns', chat] }).then(clear)
  }, [answer, chat, clear, go, queries, setQuestion])

  const missing = turns.error instanceof Failure && turns.error.status === 404
  if (turns.error && !turns.data)
    return <Unread error={turns.error} missing={text.chats.missing} again={turns.refetch} />
  const submit = () => void ask(questionOf(chat, corpora, question, generationOf(knobs)))
  return (
    <div className="stack conversation">
      <div className="row spread">
        <h1>{chat ? text.chats.one : text.chats.create}</h1>
        {chat && may('deleteChat') && (
          <Button kind="danger" onClick={() => setAsks(true)}>
            {text.chats.remove}
          </Button>
        )}
      </div>
      {chat && turns.isPending && <Loading />}
      {turns.error && <Failed error={turns.error} again={missing ? undefined : () => void turns.refetch()} />}
      <ol className="exchanges">
        {stored.map((t) => (
          <Exchange key={t.id} turn={t} answer={kept.get(t.id)} chat={chat} />
        ))}
        {answer.state !== 'none' && !stored.some((t) => t.id === answer.turn?.turn) && (
          <li className="exchange">
            <h2 className="asked" dir="auto">
              {answer.question}
            </h2>
            <AnswerView
              answer={answer}
              again={() => void ask(questionOf(chat, corpora, answer.question, answer.generation))}
            />
          </li>
        )}
      </ol>
      <section className="card stack next" aria-label={text.chats.next}>
        <QuestionLine
          value={question}
          change={setQuestion}
          busy={busy}
          submit={submit}
          stop={stop}
          label={chat ? text.chats.next : text.ask.question}
        />
        <CorpusChoice label={text.chats.search} chosen={corpora} change={setCorpora} />
        <AnswerKnobs knobs={knobs} change={change} />
      </section>
      {asks && (
        <Confirm
          title={text.chats.remove}
          what={text.chats.removeWhat}
          act={text.chats.remove}
          run={() =>
            remove.mutateAsync(chat).then(() => {
              announce(text.chats.removed)
              go('/')
            })
          }
          close={() => setAsks(false)}
        />
      )}
    </div>
  )
}

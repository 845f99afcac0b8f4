import { useCallback, useReducer, useRef } from 'react'
import { send } from '../../api/call'
import { Failure } from '../../api/failure'
import type { components } from '../../api/schema'
import { events, type StreamEvent } from '../../api/stream'
import type { Generation } from './knobs'

export type Passage = components['schemas']['IndividualSearchResult']

/** An answer as far as it has come. */
export interface Answer {
  state: 'none' | 'searching' | 'writing' | 'done' | 'stopped' | 'failed'
  question: string
  /** How it was asked to be made. */
  generation: Generation
  passages: Passage[]
  text: string
  /** What was searched for in place of a follow-up; empty where the question stood by itself. */
  rephrased: string
  prompt: string
  score?: number
  /** How likely what is quoted first is to answer, of an answer that quotes. */
  evidence?: number
  warnings: string[]
  /** The turn of a chat that the answer is, once the service has named it. */
  turn?: { chat: string; turn: string }
  error?: unknown
}

const nothing: Answer = {
  state: 'none',
  question: '',
  generation: {},
  passages: [],
  text: '',
  rephrased: '',
  prompt: '',
  warnings: [],
}

type Change = Partial<Answer> | { append: string }

function reduce(a: Answer, c: Change): Answer {
  if ('append' in c) return { ...a, text: a.text + c.append, state: 'writing' }
  return { ...a, ...c }
}

/** Returns what an event changes. */
function changeOf(e: StreamEvent): Change | undefined {
  switch (e.type) {
    case 'search_results':
      return { passages: e.search_results as Passage[] }
    case 'chat_info':
      return { turn: { chat: String(e.chat_id), turn: String(e.turn_id) } }
    case 'generation_info':
      return { prompt: String(e.rendered_prompt ?? ''), rephrased: String(e.rephrased_query ?? '') }
    case 'generation_chunk':
      return { append: String(e.generation_chunk) }
    case 'generation_end':
      return typeof e.evidence === 'number' ? { evidence: e.evidence } : undefined
    case 'factual_consistency_score':
      return { score: Number(e.factual_consistency_score) }
    case 'end':
      return { state: 'done', warnings: (e.warnings as string[] | undefined) ?? [] }
  }
}

/** A question to an operation that streams its answer. */
export interface Question {
  path: string
  body: { query: string; generation: Generation } & Record<string, unknown>
}

/** Asks questions, one at a time, and shows the answer as it comes. */
export function useAnswer() {
  const [answer, change] = useReducer(reduce, nothing)
  const running = useRef<AbortController>(undefined)

  const stop = useCallback(() => running.current?.abort(), [])

  const clear = useCallback(() => {
    running.current?.abort()
    running.current = undefined
    change(nothing)
  }, [])

  const ask = useCallback(async (q: Question) => {
    running.current?.abort()
    const mine = new AbortController()
    running.current = mine
    const show = (c: Change) => running.current === mine && change(c)
    show({
      ...nothing,
      state: 'searching',
      question: q.body.query,
      generation: q.body.generation,
      turn: undefined,
      score: undefined,
      evidence: undefined,
      error: undefined,
    })
    const body = { ...q.body, stream_response: true }
    try {
      const response = await send(q.path, { method: 'POST', body, signal: mine.signal })
      for await (const e of events(response)) {
        if (e.type === 'error')
          throw new Failure(
            { method: 'POST', path: q.path, body: JSON.stringify(body) },
            200,
            (e.messages as string[]).join(' '),
            { requestId: response.headers.get('x-request-id') ?? '' },
          )
        const c = changeOf(e)
        if (c) show(c)
      }
    } catch (error) {
      if (mine.signal.aborted) show({ state: 'stopped' })
      else show({ state: 'failed', error })
    }
  }, [])
  return { answer, ask, stop, clear }
}

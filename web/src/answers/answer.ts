import { useCallback, useReducer, useRef } from 'react'
import { send } from '../api/call'
import { Failure } from '../api/failure'
import type { components } from '../api/schema'
import { CutOff, events } from '../api/stream'
import { text } from '../text/en'

export type Passage = components['schemas']['IndividualSearchResult']

/** An answer as far as it has come. */
export interface Answer {
  state: 'none' | 'searching' | 'writing' | 'done' | 'stopped' | 'failed'
  question: string
  passages: Passage[]
  text: string
  score?: number
  warnings: string[]
  error?: unknown
}

const nothing: Answer = { state: 'none', question: '', passages: [], text: '', warnings: [] }

type Change = Partial<Answer> | { append: string }

function reduce(a: Answer, c: Change): Answer {
  if ('append' in c) return { ...a, text: a.text + c.append, state: 'writing' }
  return { ...a, ...c }
}

/** Asks questions of a corpus, one at a time, and shows the answer as it comes. */
export function useAnswer(corpus: string) {
  const [answer, change] = useReducer(reduce, nothing)
  const running = useRef<AbortController>(undefined)

  const stop = useCallback(() => running.current?.abort(), [])

  const ask = useCallback(
    async (question: string) => {
      running.current?.abort()
      const mine = new AbortController()
      running.current = mine
      const show = (c: Change) => running.current === mine && change(c)
      show({ ...nothing, state: 'searching', question })
      try {
        const body = {
          query: question,
          search: {
            corpora: [{ corpus_key: corpus }],
            limit: 10,
            context_configuration: { sentences_before: 1, sentences_after: 1 },
          },
          generation: {},
          stream_response: true,
        }
        const response = await send('/v2/query', { method: 'POST', body, signal: mine.signal })
        for await (const e of events(response)) {
          if (e.type === 'search_results') show({ passages: e.search_results as Passage[] })
          if (e.type === 'generation_chunk') show({ append: String(e.generation_chunk) })
          if (e.type === 'factual_consistency_score') show({ score: Number(e.factual_consistency_score) })
          if (e.type === 'error')
            throw new Failure({ method: 'POST', path: '/v2/query' }, 200, (e.messages as string[]).join(' '))
          if (e.type === 'end') show({ state: 'done', warnings: (e.warnings as string[] | undefined) ?? [] })
        }
      } catch (error) {
        if (mine.signal.aborted) show({ state: 'stopped' })
        else show({ state: 'failed', error: error instanceof CutOff ? new Error(text.failure.cutOff) : error })
      }
    },
    [corpus],
  )
  return { answer, ask, stop }
}

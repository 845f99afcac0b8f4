import { useEffect, useRef, useState } from 'react'
import { path, send } from '../api/call'
import { Failure } from '../api/failure'
import { events } from '../api/stream'
import { announce } from '../parts/announce'
import { AnswerText } from '../parts/answer/AnswerText'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { useModels } from '../parts/models'
import { Select } from '../parts/Select'
import { text } from '../text/en'

/** Has a model summarise a document, and shows the summary as it comes. */
export function Summary({ corpus, id }: { corpus: string; id: string }) {
  const models = useModels()
  const [model, setModel] = useState('')
  const [summary, setSummary] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const all = models.data ?? []
  const used = model || all[0]?.name || ''

  const run = async () => {
    const mine = new AbortController()
    running.current = mine
    setSummary('')
    setError(undefined)
    setBusy(true)
    const to = path`/v2/corpora/${corpus}/documents/${id}/summarize`
    try {
      const body = { llm_name: used, stream_response: true }
      for await (const e of events(await send(to, { method: 'POST', body, signal: mine.signal }))) {
        if (e.type === 'generation_chunk') setSummary((s) => s + String(e.generation_chunk))
        if (e.type === 'error') throw new Failure({ method: 'POST', path: to }, 200, (e.messages as string[]).join(' '))
      }
      announce(text.summary.done)
    } catch (failed) {
      if (!mine.signal.aborted) setError(failed)
    } finally {
      if (running.current === mine) setBusy(false)
    }
  }
  return (
    <section className="card stack" aria-label={text.summary.title}>
      <h3>{text.summary.title}</h3>
      {models.error && <Failed error={models.error} again={() => void models.refetch()} />}
      <div className="row ends">
        <Select
          label={text.summary.model}
          value={used}
          onChange={(e) => setModel(e.target.value)}
          options={all.map((m) => [m.name ?? '', m.name ?? ''] as const)}
        />
        {busy ? (
          <Button onClick={() => running.current?.abort()}>{text.summary.stop}</Button>
        ) : (
          <Button kind="first" onClick={() => void run()} disabled={!used}>
            {text.summary.run}
          </Button>
        )}
      </div>
      {summary && <AnswerText of={summary} />}
      {error !== undefined && <Failed error={error} />}
    </section>
  )
}

import { useQuery } from '@tanstack/react-query'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { call } from '../api/call'
import type { components } from '../api/schema'
import { Area } from '../parts/Area'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { Marked } from '../parts/filter/Marked'
import { place } from '../parts/filter/mark'
import { Select } from '../parts/Select'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { NumberField } from './NumberField'
import { type Stage, stagePlace, stageTypes } from './settings'

const t = text.lab.stages

/** The models that rank by relevance. */
function useModels() {
  const lists = useMay()('listRerankers')
  return useQuery({
    enabled: lists,
    queryKey: ['rerankers'],
    queryFn: ({ signal }) =>
      call<components['schemas']['ListRerankersResponse']>('/v2/rerankers', { query: { limit: 100 }, signal }),
    select: (found) => (found.rerankers ?? []).filter((r) => r.enabled !== false && r.id !== 'rnk_272725718'),
    retry: false,
    staleTime: 60_000,
  })
}

interface Of {
  stage: Stage
  change: (part: Partial<Stage>) => void
  bad: (member: string) => string | undefined
}

function Relevance({ stage, change, bad }: Of) {
  const models = (useModels().data ?? []).map((m) => m.name ?? '')
  const names = stage.name && !models.includes(stage.name) ? [...models, stage.name] : models
  return (
    <>
      <Select
        label={t.model}
        value={stage.name ?? ''}
        options={[['', t.modelDefault] as const, ...names.map((n) => [n, n] as const)]}
        onChange={(e) => change({ name: e.target.value || undefined })}
        bad={bad('reranker_name')}
      />
      <Field
        label={t.instructions}
        hint={t.instructionsHint}
        value={stage.instructions ?? ''}
        onChange={(e) => change({ instructions: e.target.value || undefined })}
        bad={bad('instructions')}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={stage.context !== false}
          onChange={(e) => change({ context: e.target.checked ? undefined : false })}
        />
        {t.context}
      </label>
    </>
  )
}

/** A function, with the place that the service says is wrong. */
function Code({ stage, change, bad }: Of) {
  const wrong = bad('user_function')
  const at = wrong && stage.code ? place(stage.code, wrong) : undefined
  return (
    <div className="wide">
      <Area
        label={t.code}
        hint={t.codeHint}
        placeholder={t.codeExample}
        value={stage.code ?? ''}
        onChange={(e) => change({ code: e.target.value || undefined })}
        rows={3}
        spellCheck={false}
        bad={wrong}
      />
      {at && <Marked code={stage.code ?? ''} places={[at]} />}
    </div>
  )
}

function Members(props: Of) {
  const { stage, change, bad } = props
  return (
    <div className="knobs">
      {stage.type === 'customer_reranker' && <Relevance {...props} />}
      {stage.type === 'userfn' && <Code {...props} />}
      {stage.type === 'mmr' && (
        <NumberField
          label={t.bias}
          hint={t.biasHint}
          value={stage.bias}
          change={(bias) => change({ bias })}
          step="any"
          bad={bad('diversity_bias')}
        />
      )}
      {stage.type !== 'none' && (
        <NumberField
          label={t.cutoff}
          value={stage.cutoff}
          change={(cutoff) => change({ cutoff })}
          step="any"
          bad={bad('cutoff')}
        />
      )}
      <NumberField label={t.keep} value={stage.limit} change={(limit) => change({ limit })} bad={bad('limit')} />
    </div>
  )
}

interface All {
  stages: Stage[]
  change: (next: Stage[]) => void
  fields: Record<string, string>
}

/** The stages of the reranker in the order in which they run; moved by buttons, or dragged. */
export function Stages({ stages, change, fields }: All) {
  const list = useRef<HTMLOListElement>(null)
  const add = useRef<HTMLButtonElement>(null)
  // The button that had the focus is where its stage has gone.
  const [focus, setFocus] = useState<{ at: number; way: 'up' | 'down' }>()
  const [dragged, setDragged] = useState<number>()
  useEffect(() => {
    if (!focus) return
    const buttons = list.current?.children[focus.at]
    const one = buttons?.querySelector<HTMLButtonElement>(`[data-way=${focus.way}]:not(:disabled)`)
    ;(one ?? buttons?.querySelector<HTMLButtonElement>('[data-way]:not(:disabled)'))?.focus()
    setFocus(undefined)
  }, [focus])
  const move = (from: number, to: number) => {
    const next = stages.filter((_, i) => i !== from)
    next.splice(to, 0, stages[from] as Stage)
    change(next)
    announce(t.moved(from + 1, to + 1, stages.length))
  }
  const drop = (e: DragEvent, to: number) => {
    e.preventDefault()
    if (dragged !== undefined && dragged !== to) move(dragged, to)
    setDragged(undefined)
  }
  const step = (i: number, way: 'up' | 'down') => {
    const to = way === 'up' ? i - 1 : i + 1
    move(i, to)
    setFocus({ at: to, way })
  }
  return (
    <div className="stack">
      {stages.length === 0 && <p className="about">{t.none}</p>}
      <ol className="stages" ref={list}>
        {stages.map((stage, i) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a stage is known by its place
            key={i}
            data-dragged={dragged === i}
            onDragOver={(e) => dragged !== undefined && e.preventDefault()}
            onDrop={(e) => drop(e, i)}
          >
            <fieldset className="knobs-of-one">
              <legend className="hidden-text">{t.nth(i + 1)}</legend>
              <div className="stage-head">
                <span
                  className="grip"
                  title={t.drag}
                  aria-hidden="true"
                  draggable
                  onDragStart={(e) => {
                    e.dataTransfer.setData('text/plain', String(i))
                    setDragged(i)
                  }}
                  onDragEnd={() => setDragged(undefined)}
                >
                  ⠿
                </span>
                <strong>{t.nth(i + 1)}</strong>
                <Button
                  kind="quiet"
                  data-way="up"
                  disabled={i === 0}
                  onClick={() => step(i, 'up')}
                  aria-label={t.up(i + 1)}
                >
                  ↑
                </Button>
                <Button
                  kind="quiet"
                  data-way="down"
                  disabled={i === stages.length - 1}
                  onClick={() => step(i, 'down')}
                  aria-label={t.down(i + 1)}
                >
                  ↓
                </Button>
                <Button
                  kind="quiet"
                  onClick={() => {
                    change(stages.filter((_, j) => i !== j))
                    add.current?.focus()
                  }}
                  aria-label={t.remove(i + 1)}
                >
                  ×
                </Button>
              </div>
              <Select
                label={t.type}
                value={stage.type}
                options={stageTypes.map((type) => [type, t.types[type]] as const)}
                onChange={(e) =>
                  change(stages.map((s, j) => (i === j ? { ...s, type: e.target.value as Stage['type'] } : s)))
                }
              />
              <Members
                stage={stage}
                change={(part) => change(stages.map((s, j) => (i === j ? { ...s, ...part } : s)))}
                bad={(member) => fields[`${stagePlace(stages, i)}.${member}`]}
              />
            </fieldset>
          </li>
        ))}
      </ol>
      <Button ref={add} onClick={() => change([...stages, { type: 'customer_reranker' }])}>
        {t.add}
      </Button>
    </div>
  )
}

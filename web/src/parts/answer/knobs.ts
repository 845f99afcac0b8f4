import type { components } from '../../api/schema'
import { useSearchParams } from '../searchParams'

/** How an answer is generated, as a request has it. */
export type Generation = Partial<components['schemas']['GenerationParameters']>

/** What can be set about an answer, by the names that it has in the address; empty is as the service has it. */
export interface Knobs {
  preset: string
  llm: string
  language: string
  citations: string
  /** 0 where no score is wanted. */
  score: string
}

const names = ['preset', 'llm', 'language', 'citations', 'score'] as const

export function generationOf(k: Knobs): Generation {
  return {
    ...(k.preset && { generation_preset_name: k.preset }),
    ...(k.llm && { model_parameters: { llm_name: k.llm } }),
    ...(k.language && { response_language: k.language as Generation['response_language'] }),
    ...(k.citations && { citations: { style: k.citations as 'none' | 'numeric' | 'html' | 'markdown' } }),
    ...(k.score === '0' && { enable_factual_consistency_score: false }),
  }
}

/** What is set about answers, in the address. A change asks nothing by itself. */
export function useKnobs(): [Knobs, (part: Partial<Knobs>) => void] {
  const [search, setSearch] = useSearchParams()
  const knobs = Object.fromEntries(names.map((name) => [name, search.get(name) ?? ''])) as unknown as Knobs
  const change = (part: Partial<Knobs>) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(part)) {
          if (value) next.set(name, value)
          else next.delete(name)
        }
        return next
      },
      { replace: true },
    )
  return [knobs, change]
}

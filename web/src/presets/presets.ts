import { useInfiniteQuery } from '@tanstack/react-query'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import { useChange } from '../parts/change'

export type Preset = components['schemas']['GenerationPreset']

interface Page {
  generation_presets: Preset[]
  metadata: { page_key?: string }
}

/** Presets, those of the platform and those made here, a page at a time. */
export function usePresets() {
  return useInfiniteQuery({
    queryKey: ['presets'],
    queryFn: ({ pageParam, signal }) =>
      call<Page>('/v2/generation_presets', { query: { limit: 100, page_key: pageParam || undefined }, signal }),
    initialPageParam: '',
    getNextPageParam: (last) => last.metadata.page_key,
  })
}

/** Writes a preset: a new one, or one in place of another. */
export const useWritePreset = () =>
  useChange('presets', (p: Preset) =>
    p.id
      ? call(path`/v2/generation_presets/${p.id}`, { method: 'PUT', body: p })
      : call('/v2/generation_presets', { method: 'POST', body: p }),
  )

export const useDeletePreset = () =>
  useChange('presets', (id: string) => call(path`/v2/generation_presets/${id}`, { method: 'DELETE' }))

/** Returns what the model would be told by a template, for a question to a corpus. The embedded model answers, at no cost. */
export async function preview(template: string, corpus: string, question: string): Promise<string> {
  const body = {
    query: question,
    search: { corpora: [{ corpus_key: corpus }], limit: 3 },
    generation: { prompt_template: template, model_parameters: { llm_name: 'extractive-1.0' } },
    save_history: false,
  }
  const found = await call<{ rendered_prompt?: string }>('/v2/query', { method: 'POST', body })
  return found.rendered_prompt ?? ''
}

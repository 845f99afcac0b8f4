import { useQuery } from '@tanstack/react-query'
import { call } from '../../api/call'
import type { components } from '../../api/schema'
import { useMay } from '../../session/caller'
import { useModels } from '../models'
import type { Generation } from './knobs'

/** The presets that answers can be asked for with. */
export function useAllPresets() {
  const may = useMay()
  return useQuery({
    queryKey: ['presets', 'all'],
    enabled: may('listGenerationPresets'),
    queryFn: async ({ signal }) => {
      const page = await call<{ generation_presets: components['schemas']['GenerationPreset'][] }>(
        '/v2/generation_presets',
        { query: { limit: 100 }, signal },
      )
      return page.generation_presets
    },
  })
}

/** Who answers. */
interface Answerer {
  name: string
  /** It is the generator inside the service, which quotes and does not write. */
  inside: boolean
  /** The name that was asked for, where it is that of another model. */
  alias: string
}

/** Returns who answers what is asked like this: undefined where the caller may not know, null while it is being read. */
export function useAnswerer(asked: Generation): Answerer | undefined | null {
  const { data: models, isLoading: reads } = useModels()
  const { data: presets, isLoading: readsPresets } = useAllPresets()
  if (reads || readsPresets) return null
  const wanted = asked.model_parameters?.llm_name
  const preset = presets?.find((p) =>
    asked.generation_preset_name ? p.name === asked.generation_preset_name : p.default,
  )
  const name = wanted ?? preset?.llm_name
  const named = name ? models?.find((m) => m.name === name) : undefined
  // A model of the platform by another name stands for the default one.
  const stands = named?.ownership === 'platform' && named.name !== named.model
  const model = stands ? models?.find((m) => m.default) : named
  if (!model?.name) return undefined
  return {
    name: model.name,
    inside: model.ownership === 'platform',
    alias: wanted && wanted !== model.name ? wanted : '',
  }
}

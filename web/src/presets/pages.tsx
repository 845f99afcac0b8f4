import { useState } from 'react'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { leave, useKept } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { Name } from '../parts/Name'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { PresetForm } from './PresetForm'
import { type Preset, useDeletePreset, usePresets } from './presets'
import './presets.css'

const empty: Preset = { name: '', llm_name: 'extractive-1.0', prompt_template: '' }

/** A copy of a preset that can be changed: without what only the original has. */
function copyOf({ id: _, ownership: __, default: ___, enabled: ____, ...rest }: Preset): Preset {
  return { ...rest, name: text.presets.copyOf(rest.name) }
}

function Row({ preset, edit, remove }: { preset: Preset; edit: (p: Preset) => void; remove: () => void }) {
  const may = useMay()
  const own = preset.ownership === 'customer'
  return (
    <li className="card preset">
      <div>
        <h2>
          <Name>{preset.name}</Name>
          {preset.default && <span className="tag">{text.presets.isDefault}</span>}
          {!own && <span className="tag">{text.presets.platform}</span>}
        </h2>
        <p className="about">
          {preset.llm_name} {preset.description && `· ${preset.description}`}
        </p>
      </div>
      <div className="row">
        {own && may('replaceGenerationPreset') && <Button onClick={() => edit(preset)}>{text.presets.edit}</Button>}
        {may('createGenerationPreset') && (
          <Button kind="quiet" onClick={() => edit(copyOf(preset))}>
            {text.presets.copy}
            <span className="hidden-text"> {preset.name}</span>
          </Button>
        )}
        {own && may('deleteGenerationPreset') && (
          <Button kind="danger" onClick={remove}>
            {text.presets.remove}
            <span className="hidden-text"> {preset.name}</span>
          </Button>
        )}
      </div>
    </li>
  )
}

/** The presets, and the form of one of them. */
export default function Pages() {
  const found = usePresets()
  const may = useMay()
  const remove = useDeletePreset()
  const [edited, setEdited] = useKept<Preset | undefined>('edited', undefined)
  const [leaves, setLeaves] = useState<Preset>()
  const all = found.data?.pages.flatMap((p) => p.generation_presets) ?? []
  return (
    <div className="stack">
      <div className="row spread">
        <h1>{text.presets.title}</h1>
        {may('createGenerationPreset') && !edited && (
          <Button kind="first" onClick={() => setEdited(empty)}>
            {text.presets.create}
          </Button>
        )}
      </div>
      {edited && <PresetForm key={edited.id ?? edited.name} of={edited} close={() => setEdited(undefined)} />}
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      <ul className="presets">
        {all.map((p) => (
          <Row
            key={p.id ?? p.name}
            preset={p}
            edit={(next) => leave(() => setEdited(next))}
            remove={() => setLeaves(p)}
          />
        ))}
      </ul>
      {found.hasNextPage && <Button onClick={() => void found.fetchNextPage()}>{text.corpora.more}</Button>}
      {leaves && (
        <Confirm
          title={text.presets.remove}
          what={text.presets.removeWhat(leaves.name)}
          act={text.presets.remove}
          run={() => remove.mutateAsync(leaves.id ?? '')}
          close={() => setLeaves(undefined)}
        />
      )}
    </div>
  )
}

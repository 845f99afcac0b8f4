import { type FormEvent, useState } from 'react'
import { Failure } from '../api/failure'
import { Area } from '../parts/Area'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { CorpusField } from '../parts/CorpusField'
import { useCorpora } from '../parts/corpusNames'
import { useDraft } from '../parts/draft'
import { Failed } from '../parts/Failed'
import { Field } from '../parts/Field'
import { useModels } from '../parts/models'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import { type Preset, preview, useWritePreset } from './presets'

/** Shows what the model would be told, for a question to a corpus. */
function Preview({ template }: { template: string }) {
  const newest = useCorpora().data?.[0]?.key ?? ''
  const [corpus, setCorpus] = useState('')
  const [question, setQuestion] = useState('')
  const [shown, setShown] = useState('')
  const [error, setError] = useState<unknown>()
  const chosen = corpus || newest
  const show = () => {
    setError(undefined)
    preview(template, chosen, question).then(setShown, setError)
  }
  return (
    <fieldset className="rows">
      <legend>{text.presets.preview}</legend>
      <div className="grid-row">
        <CorpusField label={text.presets.corpus} value={chosen} change={setCorpus} />
        <Field label={text.ask.question} value={question} onChange={(e) => setQuestion(e.target.value)} />
        <Button onClick={show} disabled={!chosen || !question || !template}>
          {text.presets.show}
        </Button>
      </div>
      {error !== undefined && <Failed error={error} />}
      {shown && <pre className="template">{shown}</pre>}
    </fieldset>
  )
}

/** Returns the number that was typed, nothing for an empty field. */
const numberOf = (typed: string) => (typed === '' ? undefined : Number(typed))

/** The form of a preset. Those of the platform can be read here, and taken as the beginning of one's own. */
export function PresetForm({ of, close }: { of: Preset; close: () => void }) {
  const [preset, setPreset] = useDraft(`preset ${of.id ?? ''}`, of)
  const models = (useModels().data ?? []).map((m) => m.name ?? '')
  const write = useWritePreset()
  const fields = write.error instanceof Failure ? write.error.fields : {}
  const change = (part: Partial<Preset>) => setPreset({ ...preset, ...part })
  const submit = (e: FormEvent) => {
    e.preventDefault()
    write.mutate(preset, {
      onSuccess: () => {
        announce(text.presets.saved)
        close()
      },
    })
  }
  const names = preset.llm_name && !models.includes(preset.llm_name) ? [preset.llm_name, ...models] : models
  return (
    <form className="card stack" onSubmit={submit}>
      <Field
        label={text.presets.name}
        value={preset.name}
        onChange={(e) => change({ name: e.target.value })}
        bad={fields['body.name']}
        spellCheck={false}
        required
      />
      <Field
        label={text.presets.description}
        value={preset.description ?? ''}
        onChange={(e) => change({ description: e.target.value })}
        bad={fields['body.description']}
      />
      <Select
        label={text.presets.model}
        value={preset.llm_name ?? ''}
        onChange={(e) => change({ llm_name: e.target.value })}
        options={names.map((n) => [n, n] as const)}
        bad={fields['body.llm_name']}
      />
      <Area
        label={text.presets.template}
        hint={text.presets.templateHint}
        value={preset.prompt_template ?? ''}
        onChange={(e) => change({ prompt_template: e.target.value })}
        bad={fields['body.prompt_template']}
        rows={12}
        className="template"
        spellCheck={false}
        required
      />
      <Preview template={preset.prompt_template ?? ''} />
      <div className="grid-row">
        <Field
          label={text.presets.results}
          type="number"
          min={1}
          value={preset.max_used_search_results ?? ''}
          onChange={(e) => change({ max_used_search_results: numberOf(e.target.value) })}
          bad={fields['body.max_used_search_results']}
        />
        <Field
          label={text.presets.tokens}
          type="number"
          min={1}
          value={preset.max_tokens ?? ''}
          onChange={(e) => change({ max_tokens: numberOf(e.target.value) })}
          bad={fields['body.max_tokens']}
        />
        <Field
          label={text.presets.temperature}
          type="number"
          min={0}
          max={2}
          step="any"
          value={preset.temperature ?? ''}
          onChange={(e) => change({ temperature: numberOf(e.target.value) })}
          bad={fields['body.temperature']}
        />
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={preset.default ?? false}
          onChange={(e) => change({ default: e.target.checked })}
        />
        {text.presets.default}
      </label>
      {write.error && <Failed error={write.error} />}
      <div className="row">
        <Button kind="first" type="submit" busy={write.isPending}>
          {text.settings.save}
        </Button>
        <Button kind="quiet" onClick={close}>
          {text.cancel}
        </Button>
      </div>
    </form>
  )
}

import { Field } from '../parts/Field'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import { CorporaKnobs } from './CorpusKnobs'
import { Folded } from './Folded'
import { NumberField } from './NumberField'
import { Stages } from './Stages'
import type { Context, Settings } from './settings'

const t = text.lab

interface Props {
  title: string
  settings: Settings
  change: (next: Settings) => void
  /** What the service said about the fields of the last request with these settings. */
  fields: Record<string, string>
}

function Check({ label, on, change }: { label: string; on: boolean; change: (next: true | undefined) => void }) {
  return (
    <label className="check">
      <input type="checkbox" checked={on} onChange={(e) => change(e.target.checked || undefined)} />
      {label}
    </label>
  )
}

function Results({ settings, change, fields }: Omit<Props, 'title'>) {
  const r = t.results
  return (
    <div className="knobs">
      <NumberField
        label={r.limit}
        hint={r.limitHint}
        value={settings.limit}
        change={(limit) => change({ ...settings, limit })}
        bad={fields['body.search.limit']}
      />
      <NumberField
        label={r.offset}
        value={settings.offset}
        change={(offset) => change({ ...settings, offset })}
        bad={fields['body.search.offset']}
      />
      <Select
        label={r.save}
        value={settings.save === undefined ? '' : settings.save ? '1' : '0'}
        options={(['', '1', '0'] as const).map((v) => [v, r.saves[v]] as const)}
        onChange={(e) => change({ ...settings, save: e.target.value === '' ? undefined : e.target.value === '1' })}
      />
      <Check label={r.best} on={settings.best ?? false} change={(best) => change({ ...settings, best })} />
      <Check label={r.rewrite} on={settings.rewrite ?? false} change={(rewrite) => change({ ...settings, rewrite })} />
    </div>
  )
}

const counts = [
  ['before', 'sentences_before'],
  ['after', 'sentences_after'],
  ['charactersBefore', 'characters_before'],
  ['charactersAfter', 'characters_after'],
] as const

function ContextKnobs({ settings, change, fields }: Omit<Props, 'title'>) {
  const c = settings.context
  const set = (part: Partial<Context>) => change({ ...settings, context: { ...c, ...part } })
  const bad = (member: string) => fields[`body.search.context_configuration.${member}`]
  return (
    <div className="knobs">
      {counts.map(([name, member]) => (
        <NumberField
          key={name}
          label={t.context[name]}
          hint={name.startsWith('characters') ? t.context.charactersHint : undefined}
          value={c[name]}
          change={(n) => set({ [name]: n })}
          bad={bad(member)}
        />
      ))}
      {(['start', 'end'] as const).map((name) => (
        <Field
          key={name}
          label={t.context[name]}
          value={c[name] ?? ''}
          onChange={(e) => set({ [name]: e.target.value || undefined })}
          bad={bad(`${name}_tag`)}
          spellCheck={false}
        />
      ))}
      <Check label={t.context.full} on={c.full ?? false} change={(full) => set({ full })} />
    </div>
  )
}

/** Says what is set in each group, in a few words. */
function summaries(s: Settings): { corpora: string; results: string; context: string; stages: string } {
  const { context: c } = s
  const w = t.summary
  return {
    corpora: s.corpora.map((one) => one.key).join(', '),
    results: [
      s.limit !== undefined && w.limit(s.limit),
      s.offset && w.offset(s.offset),
      s.best && w.best,
      s.rewrite && w.rewrite,
    ]
      .filter(Boolean)
      .join(', '),
    context: c.full
      ? w.full
      : c.before || c.after
        ? w.sentences(c.before ?? 0, c.after ?? 0)
        : c.charactersBefore || c.charactersAfter
          ? w.characters(c.charactersBefore ?? 0, c.charactersAfter ?? 0)
          : '',
    stages: s.stages.length ? s.stages.map((one) => t.part.types[one.type]).join(' → ') : w.ofService,
  }
}

/** All settings of a search. */
export function Knobs({ title, settings, change, fields }: Props) {
  const set = summaries(settings)
  const wrong = (...starts: string[]) => Object.keys(fields).some((f) => starts.some((s) => f.startsWith(s)))
  const rest = { settings, change, fields }
  return (
    <fieldset className="settings card">
      <legend>{title}</legend>
      <Folded title={t.corpora.title} set={set.corpora} wrong={wrong('body.search.corpora')} open>
        <CorporaKnobs
          corpora={settings.corpora}
          change={(corpora) => change({ ...settings, corpora })}
          fields={fields}
        />
      </Folded>
      <Folded
        title={t.results.title}
        set={set.results}
        wrong={wrong('body.search.limit', 'body.search.offset', 'body.search.max_by')}
      >
        <Results {...rest} />
      </Folded>
      <Folded title={t.context.title} set={set.context} wrong={wrong('body.search.context')}>
        <ContextKnobs {...rest} />
      </Folded>
      <Folded
        title={t.stages.title}
        set={set.stages}
        wrong={wrong('body.search.reranker')}
        open={settings.stages.length > 0}
      >
        <Stages stages={settings.stages} change={(stages) => change({ ...settings, stages })} fields={fields} />
      </Folded>
    </fieldset>
  )
}

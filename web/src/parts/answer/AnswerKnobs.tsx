import { text } from '../../text/en'
import { useModels } from '../models'
import { Name } from '../Name'
import { Select } from '../Select'
import { useAllPresets } from './answerer'
import type { Knobs } from './knobs'

const t = text.answer

/** The languages that can be asked for, by what the service calls them. */
const languages =
  'eng deu fra zho kor ara rus tha nld ita por spa jpn pol tur vie ind ces ukr ell heb fas hin urd swe ben msa ron'.split(
    ' ',
  )

/** Returns names as options; one that is set and not among them is shown, too. */
function options(set: string, all: string[]): (readonly [string, string])[] {
  const known = set && !all.includes(set) ? [set, ...all] : all
  return [['', t.asService] as const, ...known.map((n) => [n, n] as const)]
}

/** Says in a few words what is set. */
function summary(k: Knobs): string {
  const language = k.language && (text.languages[k.language as keyof typeof text.languages] ?? k.language)
  return [k.preset, k.llm, language, k.citations && t.cited[k.citations as 'none'], k.score && t.noScore]
    .filter(Boolean)
    .join(' · ')
}

/** How an answer is made: by whom, in which language, with which marks, and whether it is scored. */
export function AnswerKnobs({ knobs, change }: { knobs: Knobs; change: (part: Partial<Knobs>) => void }) {
  const presets = (useAllPresets().data ?? []).filter((p) => p.enabled !== false).map((p) => p.name)
  const models = (useModels().data ?? []).map((m) => m.name ?? '')
  return (
    <details className="answer-knobs">
      <summary>
        {t.title} <Name className="about">{summary(knobs)}</Name>
      </summary>
      <div className="grid-row">
        <Select
          label={t.preset}
          value={knobs.preset}
          options={options(knobs.preset, presets)}
          onChange={(e) => change({ preset: e.target.value })}
        />
        <Select
          label={t.model}
          value={knobs.llm}
          options={options(knobs.llm, models)}
          onChange={(e) => change({ llm: e.target.value })}
        />
        <Select
          label={t.language}
          value={knobs.language}
          options={[
            ['', t.ofQuestion] as const,
            ...languages.map((code) => [code, text.languages[code as keyof typeof text.languages]] as const),
          ]}
          onChange={(e) => change({ language: e.target.value })}
        />
        <Select
          label={t.citations}
          value={knobs.citations}
          options={(['', 'none', 'markdown', 'html'] as const).map((style) => [style, t.cited[style]] as const)}
          onChange={(e) => change({ citations: e.target.value })}
        />
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={knobs.score !== '0'}
          onChange={(e) => change({ score: e.target.checked ? '' : '0' })}
        />
        {t.score}
      </label>
    </details>
  )
}

import { useRef, useState } from 'react'
import { Failure } from '../api/failure'
import { Button } from '../parts/Button'
import { CorpusField } from '../parts/CorpusField'
import { Name } from '../parts/Name'
import { Select } from '../parts/Select'
import { useCaller } from '../session/caller'
import { text } from '../text/en'
import type { ApiRole, CorpusRole, Rights } from './access'
import { givable, givableOn, offered } from './roles'

const t = text.access.roles

/** Reports whether the form of rights has a place for a reason that the service gave. */
export const isOfRights = (field: string) => /^body\.(api|corpus)_roles\b/.test(field)

/** The roles of a key, person or client, in words. */
export function Held({ of }: { of: Partial<Rights> }) {
  const api = of.api_roles ?? []
  const onCorpora = of.corpus_roles ?? []
  if (api.length + onCorpora.length === 0) return <>{t.none}</>
  return (
    <>
      {api.map((r) => t.api[r]).join(', ')}
      {api.length > 0 && onCorpora.length > 0 && '; '}
      {onCorpora.slice(0, 5).map((r, i) => (
        <span key={`${r.corpus_key} ${r.role}`}>
          {i > 0 && ', '}
          {t.on[r.role]} {t.of} <Name>{r.corpus_key}</Name>
        </span>
      ))}
      {onCorpora.length > 5 && ` ${t.andMore(onCorpora.length - 5)}`}
    </>
  )
}

interface Props {
  rights: Rights
  change: (part: Partial<Rights>) => void
  /** Of the request that sent them. */
  error: unknown
}

/** Roles to choose: for the whole account, and for single corpora. Only those are offered that the caller can give. */
export function RightsFields({ rights, change, error }: Props) {
  const { data: caller } = useCaller()
  if (!caller) return null
  const can = givable(caller)
  const shown = [...offered, ...rights.api_roles.filter((r) => !offered.includes(r))].filter(
    (r) => can.includes(r) || rights.api_roles.includes(r),
  )
  const fields = error instanceof Failure ? error.fields : {}
  const bad = Object.entries(fields).flatMap(([field, reason]) => (field.startsWith('body.api_roles') ? [reason] : []))
  const set = (role: ApiRole, on: boolean) =>
    change({ api_roles: on ? [...rights.api_roles, role] : rights.api_roles.filter((r) => r !== role) })
  return (
    <>
      <fieldset className="roles">
        <legend>{t.account}</legend>
        {shown.map((role) => (
          <label key={role} className="check">
            <input
              type="checkbox"
              checked={rights.api_roles.includes(role)}
              disabled={!can.includes(role) && offered.includes(role)}
              onChange={(e) => set(role, e.target.checked)}
            />
            <span>
              {t.api[role]} <span className="about">{t.about[role]}</span>
            </span>
          </label>
        ))}
        {bad.length > 0 && (
          <p className="bad" role="alert">
            {bad.join(' ')}
          </p>
        )}
      </fieldset>
      <CorpusRows
        rows={rights.corpus_roles}
        change={(corpus_roles) => change({ corpus_roles })}
        fields={fields}
        can={(corpus) => givableOn(caller, corpus)}
      />
    </>
  )
}

interface Rows {
  rows: CorpusRole[]
  change: (next: CorpusRole[]) => void
  fields: Record<string, string>
  can: (corpus: string) => CorpusRole['role'][]
}

/** Roles on single corpora, one below the other. A key can be typed that is not among those suggested. */
function CorpusRows({ rows, change, fields, can }: Rows) {
  const add = useRef<HTMLDivElement>(null)
  const [added, setAdded] = useState(-1)
  const set = (i: number, part: Partial<CorpusRole>) => change(rows.map((r, j) => (i === j ? { ...r, ...part } : r)))
  return (
    <fieldset className="roles">
      <legend>{t.corpora}</legend>
      {rows.map((row, i) => {
        const roles = can(row.corpus_key)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
          <div className="role-row" key={i}>
            <CorpusField
              label={t.corpus}
              value={row.corpus_key}
              change={(corpus_key) => set(i, { corpus_key })}
              bad={fields[`body.corpus_roles[${i}].corpus_key`] ?? fields[`body.corpus_roles[${i}]`]}
              autoFocus={i === added}
              required
            />
            <Select
              label={t.role}
              value={row.role}
              onChange={(e) => set(i, { role: e.target.value as CorpusRole['role'] })}
              options={[...roles, ...(roles.includes(row.role) ? [] : [row.role])].map(
                (r) => [r, t.onLong[r]] as const,
              )}
              bad={fields[`body.corpus_roles[${i}].role`]}
            />
            <Button
              kind="quiet"
              onClick={() => {
                setAdded(-1)
                change(rows.filter((_, j) => i !== j))
                add.current?.querySelector('button')?.focus()
              }}
            >
              {t.remove}
              <span className="hidden-text"> {row.corpus_key}</span>
            </Button>
          </div>
        )
      })}
      <div ref={add}>
        <Button
          onClick={() => {
            setAdded(rows.length)
            change([...rows, { corpus_key: '', role: 'viewer' }])
          }}
        >
          {t.add}
        </Button>
      </div>
    </fieldset>
  )
}

import { useDeferredValue } from 'react'
import { Button } from '../parts/Button'
import { Field } from '../parts/Field'
import { second } from '../parts/locale'
import { text } from '../text/en'
import { type AuditEvent, useAudit } from './access'
import { changesOf } from './changed'
import { useFilters } from './filters'
import { List } from './List'

const t = text.access.audit

/** Returns a moment of this reader's clock, as a field has it, in the form of the service. */
function moment(local: string): string | undefined {
  const at = local ? new Date(local) : undefined
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined
}

function Changes({ event, earlier }: { event: AuditEvent; earlier: AuditEvent[] }) {
  const all = changesOf(event, earlier)
  if (all.length === 0) return null
  return (
    <dl className="changes">
      {all.map((c) => (
        <div key={c.name}>
          <dt className="about">
            <code>{c.name}</code>
          </dt>
          <dd dir="auto">
            {c.before !== undefined && (
              <>
                <del>
                  <span className="hidden-text">{t.before} </span>
                  {c.before}
                </del>{' '}
              </>
            )}
            <ins>
              {c.before !== undefined && <span className="hidden-text">{t.after} </span>}
              {c.after}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Event({ event, earlier, only }: { event: AuditEvent; earlier: AuditEvent[]; only: (actor: string) => void }) {
  const { actor } = event
  const who = actor.name || actor.id || t.nobody
  const target = Object.entries(event.target ?? {}).filter(([name]) => name !== 'user_id')
  return (
    <li className="card event" data-outcome={event.outcome}>
      <div className="row spread">
        <p>
          <button type="button" className="as-link" onClick={() => only(actor.id || who)} title={t.only}>
            <bdi>{who}</bdi>
          </button>{' '}
          <span className="about">{t.actors[actor.type]}</span> <code>{event.action}</code>{' '}
          {target.map(([name, value]) => (
            <bdi key={name} className="target" title={name}>
              {value}
            </bdi>
          ))}
        </p>
        <p className="about">
          <span className="outcome">
            {t.outcomes[event.outcome]}
            {event.status ? ` (${event.status})` : ''}
          </span>{' '}
          <time dateTime={event.created_at}>{second(event.created_at)}</time>
        </p>
      </div>
      <Changes event={event} earlier={earlier} />
      <p className="about">
        {event.address && t.from(event.address)} {text.failure.request} <code>{event.request_id}</code>
      </p>
    </li>
  )
}

/** Who changed what, newest first. */
export function Audit() {
  const [filters, change] = useFilters(['actor', 'action', 'after', 'before'])
  const { actor, action, after, before } = filters
  const found = useAudit({
    actor: useDeferredValue(actor) || undefined,
    action: useDeferredValue(action) || undefined,
    after: moment(after),
    before: moment(before),
  })
  const all = found.data?.pages.flatMap((p) => p.audit_events) ?? []
  // A list of one actor or action has gaps, so that the last event it holds need not be the last that set something.
  const whole = !actor && !action
  const filtered = Object.values(filters).some(Boolean)
  return (
    <div className="stack">
      <h1>{t.title}</h1>
      <div className="row filters">
        <Field
          label={t.actor}
          value={actor}
          onChange={(e) => change({ actor: e.target.value })}
          autoComplete="off"
          spellCheck={false}
        />
        <Field
          label={t.action}
          value={action}
          onChange={(e) => change({ action: e.target.value })}
          autoComplete="off"
          placeholder="createUser"
          spellCheck={false}
        />
        <Field
          label={t.since}
          type="datetime-local"
          step={1}
          value={after}
          onChange={(e) => change({ after: e.target.value })}
        />
        <Field
          label={t.until}
          type="datetime-local"
          step={1}
          value={before}
          onChange={(e) => change({ before: e.target.value })}
        />
        {filtered && (
          <Button kind="quiet" onClick={() => change({ actor: '', action: '', after: '', before: '' })}>
            {t.clear}
          </Button>
        )}
      </div>
      <List found={found} count={all.length} none={filtered ? t.noMatch : t.empty}>
        {all.map((e, i) => (
          <Event key={e.id} event={e} earlier={whole ? all.slice(i + 1) : []} only={(one) => change({ actor: one })} />
        ))}
      </List>
    </div>
  )
}

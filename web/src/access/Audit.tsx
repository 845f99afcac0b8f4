import { Button } from '../parts/Button'
import { second } from '../parts/locale'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import { type AuditEvent, useAudit } from './access'
import { changesOf } from './changed'
import { useFilters } from './filters'
import { List } from './List'
import { localOf, momentOf } from './moments'
import { Sought } from './Sought'

const t = text.access.audit

// What is done to access most often; any other operation can be typed.
const frequent = [
  'createUser',
  'updateUser',
  'deleteUser',
  'createApiKey',
  'updateApiKey',
  'deleteApiKey',
  'createAppClient',
]

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
            <Name>{who}</Name>
          </button>{' '}
          <span className="about">{t.actors[actor.type]}</span> <code>{event.action}</code>{' '}
          {target.map(([name, value]) => (
            <Name key={name} className="target" title={name}>
              {value}
            </Name>
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
    actor: actor || undefined,
    action: action || undefined,
    after: momentOf(after) || undefined,
    before: momentOf(before) || undefined,
  })
  const all = found.data?.pages.flatMap((p) => p.audit_events) ?? []
  // A list of one actor or action has gaps, so that the last event it holds need not be the last that set something.
  const whole = !actor && !action
  const filtered = Object.values(filters).some(Boolean)
  return (
    <div className="stack">
      <h1>{t.title}</h1>
      <div className="row filters">
        <Sought label={t.actor} value={actor} seek={(one) => change({ actor: one })} />
        <Sought label={t.action} value={action} seek={(one) => change({ action: one })} suggested={frequent} />
        <Sought
          label={t.since}
          type="datetime-local"
          value={localOf(after)}
          seek={(at) => change({ after: momentOf(at) })}
        />
        <Sought
          label={t.until}
          type="datetime-local"
          value={localOf(before)}
          seek={(at) => change({ before: momentOf(at) })}
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

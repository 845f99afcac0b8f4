import { Name } from '../parts/Name'
import { text } from '../text/en'
import type { Policy } from './access'
import { grouped, opened } from './opens'

const t = text.access.opens

/** What a key, person or client may do now, in words. */
export function Opens({ policy, closed }: { policy?: Policy; closed?: boolean }) {
  if (!policy) return null
  const groups = grouped(opened(policy))
  return (
    <section className="card stack" aria-labelledby="opens">
      <h2 id="opens">{t.title}</h2>
      {closed && <p>{t.closed}</p>}
      {groups.length === 0 && <p>{t.nothing}</p>}
      {groups.map((g) => (
        <div key={g.corpora?.join() ?? ''}>
          {g.corpora && (
            <p>
              {t.on(g.corpora.length)}{' '}
              {g.corpora.slice(0, 10).map((key, i) => (
                <span key={key}>
                  {i > 0 && ', '}
                  <Name>{key}</Name>
                </span>
              ))}
              {g.corpora.length > 10 && ` ${text.access.roles.andMore(g.corpora.length - 10)}`}
            </p>
          )}
          <ul className="opens">
            {g.what.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

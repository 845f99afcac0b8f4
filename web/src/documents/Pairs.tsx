import { Long } from '../parts/Long'
import { Name } from '../parts/Name'
import { text } from '../text/en'
import { cut, writtenOf } from './cells'
import type { Metadata } from './documents'

/** Metadata to be read. */
export function Pairs({ metadata }: { metadata: Metadata }) {
  const all = Object.entries(metadata)
  if (all.length === 0) return <p className="empty">{text.document.noMetadata}</p>
  return (
    <dl className="pairs">
      {all.map(([key, value]) => (
        <div key={key}>
          <dt>
            <Name>{cut(key)}</Name>
          </dt>
          <dd>
            <bdi>
              <Long text={writtenOf(value)} most={500} />
            </bdi>
          </dd>
        </div>
      ))}
    </dl>
  )
}

import { Tabs } from '@base-ui/react/tabs'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { text } from '../text/en'
import type { Experiment } from './address'
import { type Call, curl, pythonCall, quarry, typescriptCall } from './calls'
import { Folded } from './Folded'

const t = text.lab.calls

const kinds = ['curl', 'python', 'typescript', 'quarry'] as const
const write = { curl, python: pythonCall, typescript: typescriptCall, quarry }

function Program({ call }: { call: Call }) {
  const copy = async () => {
    await navigator.clipboard?.writeText(call.code)
    announce(t.copied)
  }
  return (
    <div className="program">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a program that is wider than the page is scrolled by keys */}
      <pre tabIndex={0}>
        <code dir="ltr">{call.code}</code>
      </pre>
      {call.run && (
        <p className="about">
          {t.run} <code>{call.run}</code>
        </p>
      )}
      {call.lost.length > 0 && (
        <p className="lost">
          {t.lost} {call.lost.map((l) => t.what[l]).join('; ')}.
        </p>
      )}
      <Button onClick={() => void copy()}>{t.copy}</Button>
    </div>
  )
}

/** The query as programs that do the same. The second of two settings has programs of its own. */
export function Calls({ asked }: { asked: Experiment }) {
  const both = asked.other
    ? ([
        [text.lab.first, asked],
        [text.lab.second, { ...asked, settings: asked.other }],
      ] as const)
    : ([['', asked]] as const)
  return (
    <Folded title={t.title}>
      <p className="about">{t.needs}</p>
      {both.map(([name, e]) => (
        <Tabs.Root key={name} defaultValue="curl">
          {name && <h2>{name}</h2>}
          <Tabs.List className="ways" aria-label={name || t.title}>
            {kinds.map((kind) => (
              <Tabs.Tab key={kind} value={kind}>
                {t.kinds[kind]}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {kinds.map((kind) => (
            <Tabs.Panel key={kind} value={kind}>
              <Program call={write[kind](e, location.origin)} />
            </Tabs.Panel>
          ))}
        </Tabs.Root>
      ))}
    </Folded>
  )
}

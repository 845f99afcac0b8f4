import { type DragEvent, memo, useEffect, useRef, useState } from 'react'
import { Failure } from '../api/failure'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { number } from '../parts/locale'
import { Name } from '../parts/Name'
import { Select } from '../parts/Select'
import { text } from '../text/en'
import { useReread } from './documents'
import { chosen, dropped, type Found } from './dropped'
import { ended, forgetUploads, type Taken, type Upload, upload, uploadAgain, useUploads } from './uploads'
import './documents.css'

/** How many files are listed at once. */
const listed = 200

/** Returns why a file was refused, with what to do about it. */
function reasonOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error)
  const advice = error instanceof Failure ? text.dropping.advice[error.status] : undefined
  return advice ? `${said} ${advice}` : said
}

const Line = memo(({ of }: { of: Upload }) => {
  const s = of.state
  return (
    <li>
      <Name title={of.path}>{of.path}</Name>
      {s.at === 'waiting' && <span>{s.why ?? text.uploads.waiting}</span>}
      {s.at === 'sending' && <span>{text.uploads.sending(s.percent)}</span>}
      {s.at === 'reading' && <span>{text.uploads.reading}</span>}
      {s.at === 'done' && <span className="good">{s.kept ? text.dropping.kept : text.uploads.done(s.passages)}</span>}
      {s.at === 'failed' && (
        <span className="bad">
          {reasonOf(s.error)}{' '}
          <Button kind="quiet" onClick={() => uploadAgain(of.id)}>
            {text.uploads.retry}
          </Button>
        </span>
      )}
    </li>
  )
})

/** What happens now stands first. */
const order = { sending: 0, reading: 0, waiting: 1, done: 2, failed: 3 }

/** The files that are on their way or there, in lines that stay where they are, and below them those that were refused. */
function Lines({ all }: { all: Upload[] }) {
  const going = all
    .filter((u) => u.state.at !== 'failed')
    .sort((a, b) => order[a.state.at] - order[b.state.at] || a.id - b.id)
  const refused = all.filter((u) => u.state.at === 'failed')
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list is scrolled by keys */}
      <ul className="uploads" tabIndex={0} aria-label={text.dropping.list}>
        {going.slice(0, listed).map((u, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line keeps its place, whichever file it is about
          <Line key={i} of={u} />
        ))}
        {going.length > listed && <li>{text.dropping.more(number(going.length - listed))}</li>}
      </ul>
      {refused.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: as above
        <ul className="uploads refused" tabIndex={0} aria-label={text.dropping.refused}>
          {refused.slice(0, listed).map((u) => (
            <Line key={u.id} of={u} />
          ))}
          {refused.length > listed && <li>{text.dropping.more(number(refused.length - listed))}</li>}
        </ul>
      )}
    </>
  )
}

/** The two ways to choose files without dropping them. */
function Choose({ add }: { add: (files: Found[]) => void }) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  useEffect(() => folder.current?.setAttribute('webkitdirectory', ''), [])
  const props = { type: 'file', multiple: true, hidden: true } as const
  const take = (e: { target: HTMLInputElement }) => {
    if (e.target.files) add(chosen(e.target.files))
    e.target.value = ''
  }
  return (
    <>
      <Button onClick={() => files.current?.click()}>{text.uploads.choose}</Button>
      <Button onClick={() => folder.current?.click()}>{text.dropping.folder}</Button>
      <input {...props} ref={files} aria-label={text.uploads.choose} onChange={take} />
      <input {...props} ref={folder} aria-label={text.dropping.folder} onChange={take} />
    </>
  )
}

/** A place to drop files and folders, which become documents of a corpus, with what has become of each. */
export function Drop({ corpus }: { corpus: string }) {
  const reread = useReread(corpus)
  const all = useUploads().filter((u) => u.corpus === corpus)
  const [over, setOver] = useState(false)
  const [taken, setTaken] = useState<Taken>('replace')
  const done = all.filter((u) => u.state.at === 'done').length
  const bad = all.filter((u) => u.state.at === 'failed')
  const busy = !all.every(ended)
  const add = (files: Found[]) => upload(corpus, files, taken)
  const counted = useRef(0)
  useEffect(() => {
    if (done === counted.current) return
    // What shows the corpus is read anew after the first file and at the end, not after each of thousands.
    if (busy && counted.current > 0) return
    counted.current = done
    if (done > 0) reread()
  }, [done, busy, reread])
  const was = useRef(busy)
  useEffect(() => {
    if (was.current && !busy) announce(text.uploads.summary(done, all.length, bad.length))
    was.current = busy
  }, [busy, done, all.length, bad.length])
  const take = (e: DragEvent) => {
    e.preventDefault()
    setOver(false)
    void dropped(e.dataTransfer).then(add)
  }
  return (
    <section
      className="drop"
      aria-label={text.uploads.title}
      data-over={over}
      onDragOver={(e) => {
        e.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={take}
    >
      <h2>{text.uploads.title}</h2>
      <div className="row">
        <span>{text.uploads.drop}</span>
        <Choose add={add} />
      </div>
      <Select
        label={text.dropping.taken}
        value={taken}
        onChange={(e) => setTaken(e.target.value as Taken)}
        options={[
          ['replace', text.dropping.replace],
          ['keep', text.dropping.keep],
        ]}
      />
      <p className="kinds">{text.uploads.kinds}</p>
      {all.length > 0 && (
        <>
          <div className="row told">
            <p>{text.uploads.summary(done, all.length, bad.length)}</p>
            {bad.length > 1 && (
              <Button onClick={() => uploadAgain(...bad.map((u) => u.id))}>{text.dropping.retryAll}</Button>
            )}
            {!busy && (
              <Button kind="quiet" onClick={() => forgetUploads(corpus)}>
                {text.uploads.forget}
              </Button>
            )}
          </div>
          <Lines all={all} />
        </>
      )}
    </section>
  )
}

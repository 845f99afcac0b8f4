import { type DragEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../parts/Button'
import { text } from '../text/en'
import { chosen, dropped, type Found } from './dropped'
import { ended, forgetUploads, type Upload, upload, uploadAgain, useUploads } from './uploads'
import './documents.css'

function Line({ of }: { of: Upload }) {
  const s = of.state
  return (
    <li>
      <span>{of.path}</span>
      {s.at === 'waiting' && <span>{text.uploads.waiting}</span>}
      {s.at === 'sending' && <span>{text.uploads.sending(s.percent)}</span>}
      {s.at === 'reading' && <span>{text.uploads.reading}</span>}
      {s.at === 'done' && <span className="good">{text.uploads.done(s.passages)}</span>}
      {s.at === 'failed' && (
        <span className="bad">
          {s.error instanceof Error ? s.error.message : String(s.error)}{' '}
          <Button kind="quiet" onClick={() => uploadAgain(of.id)}>
            {text.uploads.retry}
          </Button>
        </span>
      )}
    </li>
  )
}

/** A place to drop files and folders, which become documents of a corpus, with what has become of each. */
export function Drop({ corpus, added }: { corpus: string; added: () => void }) {
  const all = useUploads().filter((u) => u.corpus === corpus)
  const [over, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const done = all.filter((u) => u.state.at === 'done').length
  const bad = all.filter((u) => u.state.at === 'failed').length
  const busy = !all.every(ended)
  const add = (files: Found[]) => upload(corpus, files)
  useEffect(() => {
    if (done > 0) added()
  }, [done, added])
  useEffect(() => {
    if (!busy) return
    const ask = (e: BeforeUnloadEvent) => e.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [busy])
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
        <Button onClick={() => input.current?.click()}>{text.uploads.choose}</Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          aria-label={text.uploads.choose}
          onChange={(e) => {
            if (e.target.files) add(chosen(e.target.files))
            e.target.value = ''
          }}
        />
      </div>
      <p className="kinds">{text.uploads.kinds}</p>
      {all.length > 0 && (
        <>
          <div className="row">
            <p role="status">{text.uploads.summary(done, all.length, bad)}</p>
            {!busy && (
              <Button kind="quiet" onClick={() => forgetUploads(corpus)}>
                {text.uploads.forget}
              </Button>
            )}
          </div>
          <ul className="uploads">
            {all.map((u) => (
              <Line key={u.id} of={u} />
            ))}
          </ul>
        </>
      )}
    </section>
  )
}

import { useSyncExternalStore } from 'react'
import { Failure } from '../api/failure'
import { sendFile } from './send'

export type State =
  | { at: 'waiting' }
  | { at: 'sending'; percent: number }
  | { at: 'reading' }
  | { at: 'done'; passages: number }
  | { at: 'failed'; error: unknown }

/** One file on its way into a corpus. Its path becomes the id of the document. */
export interface Upload {
  id: number
  corpus: string
  path: string
  file: File
  state: State
}

/** How many files are sent at once. */
const together = 3

/** How often a file is sent again while the service has too much to do or restarts. */
const attempts = 5

// Uploads outlive the page that began them: whoever looks at something else meanwhile finds them where they were.
let all: Upload[] = []
const queue: number[] = []
const listeners = new Set<() => void>()
let running = 0
let last = 0

function change(next: Upload[]) {
  all = next
  for (const listener of listeners) listener()
}

function report(id: number, state: State) {
  change(all.map((u) => (u.id === id ? { ...u, state } : u)))
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Returns all uploads of this visit, the first first. */
export function useUploads(): Upload[] {
  return useSyncExternalStore(subscribe, () => all)
}

/** Adds files to a corpus. */
export function upload(corpus: string, files: { path: string; file: File }[]) {
  const fresh = files.map((f): Upload => ({ ...f, corpus, id: ++last, state: { at: 'waiting' } }))
  change([...all, ...fresh])
  queue.push(...fresh.map((u) => u.id))
  pump()
}

/** Sends a file again that was refused. */
export function uploadAgain(id: number) {
  report(id, { at: 'waiting' })
  queue.push(id)
  pump()
}

/** Forgets what is done or refused; what is under way goes on. */
export function forgetUploads(corpus: string) {
  change(all.filter((u) => u.corpus !== corpus || !ended(u)))
}

/** Reports whether nothing more happens to an upload by itself. */
export function ended(u: Upload): boolean {
  return u.state.at === 'done' || u.state.at === 'failed'
}

function pump() {
  while (running < together) {
    const id = queue.shift()
    const u = all.find((one) => one.id === id)
    if (!u) return
    running++
    void attempt(u, attempts).finally(() => {
      running--
      pump()
    })
  }
}

async function attempt(u: Upload, left: number): Promise<void> {
  try {
    report(u.id, { at: 'done', passages: await sendFile(u.corpus, u.path, u.file, (state) => report(u.id, state)) })
  } catch (error) {
    if (!(error instanceof Failure && error.passing && left > 0)) return report(u.id, { at: 'failed', error })
    report(u.id, { at: 'waiting' })
    await new Promise((go) => setTimeout(go, 1000 * (error.after || 2)))
    return attempt(u, left - 1)
  }
}

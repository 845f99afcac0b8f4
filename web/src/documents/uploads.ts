import { useSyncExternalStore } from 'react'
import { call } from '../api/call'
import { Failure } from '../api/failure'
import type { components } from '../api/schema'
import { text } from '../text/en'
import { sendFile } from './send'

/** What happens to a document that has the id of a file: the file takes its place, or it is kept. */
export type Taken = 'replace' | 'keep'

export type State =
  | { at: 'waiting'; why?: string }
  | { at: 'sending'; percent: number }
  | { at: 'reading' }
  | { at: 'done'; passages: number; kept?: boolean }
  | { at: 'failed'; error: unknown }

/** One file on its way into a corpus. Its path becomes the id of the document. */
export interface Upload {
  id: number
  corpus: string
  path: string
  file: File
  taken: Taken
  state: State
}

/** How many files are sent at once, at most. */
const together = 3

/** How often a file is sent again while the service has too much to do or restarts. */
const attempts = 10

// Uploads outlive the page that began them: whoever looks at something else meanwhile finds them where they were.
let all: Upload[] = []
let queue: number[] = []
const tries = new Map<number, number>()
const listeners = new Set<() => void>()
let running = 0
let last = 0

// A service that has too much to do gets one file at a time, after the pause that it asks for, and more as it takes them.
let width = together
let paused: ReturnType<typeof setTimeout> | undefined
let until = 0

function change(next: Upload[]) {
  all = next
  if (all.every(ended)) removeEventListener('beforeunload', asks)
  else addEventListener('beforeunload', asks)
  for (const listener of listeners) listener()
}

/** Has the browser ask before the page is left while files are on their way. */
const asks = (e: BeforeUnloadEvent) => e.preventDefault()

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
export function upload(corpus: string, files: { path: string; file: File }[], taken: Taken = 'replace') {
  const fresh = files.map((f): Upload => ({ ...f, corpus, taken, id: ++last, state: { at: 'waiting' } }))
  change([...all, ...fresh])
  queue.push(...fresh.map((u) => u.id))
  pump()
}

/** Sends files again that were refused. */
export function uploadAgain(...ids: number[]) {
  const again = new Set(ids)
  change(all.map((u) => (again.has(u.id) ? { ...u, state: { at: 'waiting' } } : u)))
  for (const id of ids) tries.delete(id)
  queue.push(...ids)
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
  while (paused === undefined && running < width) {
    const id = queue.shift()
    if (id === undefined) return
    const u = all.find((one) => one.id === id)
    if (!u) continue
    running++
    void attempt(u).finally(() => {
      running--
      pump()
    })
  }
}

async function attempt(u: Upload): Promise<void> {
  try {
    await check(u.file)
    const passages = await sendFile(u.corpus, u.path, u.file, u.taken, (state) => report(u.id, state))
    if (paused === undefined) width = Math.min(together, width + 1) // not by a file that was on its way before
    report(u.id, { at: 'done', passages })
  } catch (error) {
    if (u.taken === 'keep' && error instanceof Failure && error.status === 409)
      return report(u.id, { at: 'done', passages: 0, kept: true })
    const n = (tries.get(u.id) ?? 0) + 1
    if (!(error instanceof Failure && error.passing && n <= attempts)) return report(u.id, { at: 'failed', error })
    tries.set(u.id, n)
    width = 1
    report(u.id, { at: 'waiting', why: error.status === 0 ? text.dropping.away : text.dropping.busy })
    queue = [u.id, ...queue]
    pause(1000 * (error.after || Math.min(30, 2 ** (n - 1))))
  }
}

/** Sends nothing for a while. Of several pauses that are asked for, the one counts that ends last. */
function pause(ms: number) {
  const end = Date.now() + ms
  if (paused !== undefined && end <= until) return
  clearTimeout(paused)
  until = end
  paused = setTimeout(() => {
    paused = undefined
    pump()
  }, ms)
}

let limits: Promise<number | undefined> | undefined

/** The largest file that the service takes; undefined where it does not say so, and then it refuses by itself. */
function largest(): Promise<number | undefined> {
  limits ??= call<components['schemas']['Limits']>('/v2/limits').then(
    (found) => found.max_upload_bytes,
    () => {
      limits = undefined
      return undefined
    },
  )
  return limits
}

/** Throws the reason why a file need not be sent. */
async function check(file: File) {
  const most = await largest()
  if (most !== undefined && file.size > most)
    throw new Error(text.dropping.tooLarge(inMegabytes(file.size), inMegabytes(most)))
  try {
    await file.slice(0, 1).arrayBuffer()
  } catch {
    throw new Error(text.dropping.unreadable)
  }
}

const inMegabytes = (bytes: number) => String(Math.ceil(bytes / 1024 / 102.4) / 10)

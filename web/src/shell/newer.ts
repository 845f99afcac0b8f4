import { useSyncExternalStore } from 'react'
import { whenBack } from '../api/reach'

// The page is never kept by browsers, and it names its files by their digests: a service that has another page than
// this one is of another version.
let newer = false
const listeners = new Set<() => void>()
let last = 0

/** Asks the service whether it still has the page that is shown. */
export async function checkVersion() {
  last = Date.now()
  const page = await fetch('/console/', { credentials: 'omit' }).then(
    (a) => (a.ok ? a.text() : ''),
    () => '',
  )
  if (!page.includes('id="root"')) return
  const files = [...document.head.querySelectorAll<HTMLElement>('script[src], link[rel=stylesheet]')]
  const old = files.some((f) => !page.includes(f.getAttribute('src') ?? f.getAttribute('href') ?? ''))
  if (old === newer) return
  newer = old
  for (const listener of listeners) listener()
}

/** Looks for another version where there may be one: after the service was away, and when somebody comes back to the tab. */
export function watchVersion() {
  whenBack(() => void checkVersion())
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible' && Date.now() - last > 60_000) void checkVersion()
  })
}

/** Returns whether the service has become another version than the page. */
export function useNewer(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => newer,
  )
}

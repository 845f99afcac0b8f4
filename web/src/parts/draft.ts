import { type Dispatch, type SetStateAction, useEffect, useState, useSyncExternalStore } from 'react'

/** The state of a form that is shown now. */
interface Draft {
  value: unknown
  /** Whether something would be lost with it. */
  unsaved: boolean
}

const place = 'quarry.drafts'
const drafts = new Map<string, Draft>()
const kept = restored()
const listeners = new Set<() => void>()
let here = '' // the address of the page with the drafts
let goesOn: (() => void) | undefined
let silent = false

/** Takes what a reload has kept, once. */
function restored(): Map<string, unknown> {
  try {
    const raw = sessionStorage.getItem(place)
    sessionStorage.removeItem(place)
    return new Map(raw ? (JSON.parse(raw) as [string, unknown][]) : [])
  } catch {
    return new Map()
  }
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/**
 * Is useState for a form that can be lost: whoever leaves it is asked first, and reloadKeeping carries it over. Its name is
 * its own among the forms of one address, and its value can be written as JSON. The function that comes last tells that
 * the form is saved, before the page goes on.
 */
export function useDraft<T>(
  name: string,
  before: T,
  lost = (value: T) => !same(value, before),
): [T, Dispatch<SetStateAction<T>>, () => void] {
  return useHeld(name, before, lost)
}

/** Is useState that reloadKeeping carries over, such as whether a form is open. Nobody is asked about it. */
export function useKept<T>(name: string, before: T): [T, Dispatch<SetStateAction<T>>] {
  const [value, set] = useHeld(name, before, () => false)
  return [value, set]
}

function useHeld<T>(
  name: string,
  before: T,
  lost: (value: T) => boolean,
): [T, Dispatch<SetStateAction<T>>, () => void] {
  const at = `${location.pathname} ${name}`
  const [key] = useState(at) // the address may change before the form is gone
  const [value, set] = useState<T>(() => (kept.has(at) ? (kept.get(at) as T) : before))
  const unsaved = lost(value)
  useEffect(() => {
    kept.delete(key)
    drafts.set(key, { value, unsaved })
    here = location.href
    return () => void drafts.delete(key)
  }, [key, value, unsaved])
  const saved = () => void drafts.set(key, { value, unsaved: false })
  return [value, set, saved]
}

const anyUnsaved = () => [...drafts.values()].some((d) => d.unsaved)

/** Forgets what is typed: the page goes on without it. */
export function dropDrafts() {
  drafts.clear()
}

/** Goes on, once somebody has agreed to lose what they have typed; at once where there is nothing. */
export function leave(go: () => void) {
  if (!anyUnsaved()) return go()
  decide(go)
}

function decide(go: (() => void) | undefined) {
  goesOn = go
  for (const listener of listeners) listener()
}

/** What waits until somebody has said whether what they have typed may be lost; undefined where nothing waits. */
export function useLeaving(): { lose: () => void; stay: () => void } | undefined {
  const go = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => goesOn,
  )
  if (!go) return undefined
  const stay = () => decide(undefined)
  return {
    stay,
    lose: () => {
      stay()
      dropDrafts()
      go()
    },
  }
}

type Navigate = (to: string, options?: { replace?: boolean }) => void

/** Asks before a link or a button leads to another page; another search of the same page loses nothing. */
export function aroundNav(navigate: Navigate, to: string, options?: { replace?: boolean }) {
  if (new URL(to, location.href).pathname === location.pathname) return navigate(to, options)
  leave(() => navigate(to, options))
}

/** Asks before the tab is left, and before the browser goes back or forward. To be called before the router listens. */
export function guardDrafts() {
  addEventListener('beforeunload', (e) => {
    if (!silent && anyUnsaved()) e.preventDefault()
  })
  addEventListener('popstate', (e) => {
    if (!anyUnsaved() || location.pathname === new URL(here).pathname) return
    e.stopImmediatePropagation()
    history.pushState(null, '', here)
    leave(() => history.back())
  })
}

/** Loads the page anew with what is typed. Returns false where the browser keeps nothing, and loads nothing then. */
export function reloadKeeping(): boolean {
  const all = [...drafts].filter(([, d]) => d.value !== undefined).map(([key, d]) => [key, d.value])
  try {
    sessionStorage.setItem(place, JSON.stringify(all))
  } catch {
    if (anyUnsaved()) return false
  }
  silent = true
  location.reload()
  return true
}

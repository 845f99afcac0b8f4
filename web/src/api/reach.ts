import { useSyncExternalStore } from 'react'

/** Whether the service answers, as far as the last requests tell; offline where this device has no network. */
export type Reach = 'here' | 'away' | 'offline'

/** How often a service that is away is asked whether it is back, in milliseconds. */
const pause = 2000

let reach: Reach = 'here'
let asking = false
const listeners = new Set<() => void>()
const back = new Set<() => void>()

function change(next: Reach) {
  if (next === reach) return
  const returned = next === 'here'
  reach = next
  for (const listener of listeners) listener()
  if (returned) for (const listener of back) listener()
}

/** Asks whether the service answers, since a request has failed, and goes on asking until it does. */
export function doubt() {
  if (!asking) void ask()
}

async function ask() {
  asking = true
  for (;;) {
    const answers = await fetch('/healthz', { credentials: 'omit' }).then(
      (a) => a.ok,
      () => false,
    )
    if (answers) break
    change(navigator.onLine ? 'away' : 'offline')
    await new Promise((on) => setTimeout(on, pause))
  }
  asking = false
  change('here')
}

/** Watches the network of this device. */
export function watchReach() {
  addEventListener('offline', doubt)
  addEventListener('online', doubt)
}

/** Calls a function each time the service is back. */
export function whenBack(listener: () => void) {
  back.add(listener)
}

export function useReach(): Reach {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => reach,
  )
}

import { useSyncExternalStore } from 'react'

// One live region for the whole console: two would talk over each other.
let said = ''
const listeners = new Set<() => void>()

/** Tells people who listen instead of look what has happened. */
export function announce(sentence: string) {
  said = sentence === said ? `${sentence}\u00a0` : sentence // the same sentence twice is heard twice
  for (const listener of listeners) listener()
}

export function useAnnounced(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => said,
  )
}

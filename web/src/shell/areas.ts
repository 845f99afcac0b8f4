import { type ComponentType, type LazyExoticComponent, lazy } from 'react'
import { text } from '../text/en'

/** An area of the console: the pages below one address, loaded when the first of them is visited. */
export interface Area {
  path: string
  name: string
  page: LazyExoticComponent<ComponentType>
  /** The operation without which there is nothing to see; nothing for areas that everybody has. */
  needs?: string
}

/** Where the page was opened; without an area in it, the first of them is shown. */
const opened = /^\/console(\/[a-z]+)/.exec(location.pathname)?.[1] ?? '/corpora'

let opening: Promise<unknown> = Promise.resolve()

/** A page that is loaded when it is first visited; that of the address at once. */
function later(path: string, load: () => Promise<{ default: ComponentType }>) {
  if (path !== opened) return lazy(load)
  const first = load()
  opening = first
  return lazy(() => first)
}

/** The areas in the order of the bar. */
export const areas: Area[] = [
  {
    path: '/corpora',
    name: text.areas.corpora,
    page: later('/corpora', () => import('../corpora/pages')),
    needs: 'getCorpus',
  },
  { path: '/lab', name: text.areas.lab, page: later('/lab', () => import('../lab/pages')), needs: 'query' },
  { path: '/chats', name: text.areas.chats, page: later('/chats', () => import('../chats/pages')), needs: 'listChats' },
  {
    path: '/presets',
    name: text.areas.presets,
    page: later('/presets', () => import('../presets/pages')),
    needs: 'createGenerationPreset',
  },
  {
    path: '/access',
    name: text.areas.access,
    page: later('/access', () => import('../access/pages')),
    needs: 'listApiKeys',
  },
]

/**
 * Resolves once the area of the address is there. Before that there is nothing to show, and React holds back for 0.3 s what it has
 * shown a gap for.
 */
export const ready = opening.catch(() => undefined)

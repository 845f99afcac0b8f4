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

/** The areas in the order of the bar. */
export const areas: Area[] = [
  { path: '/corpora', name: text.areas.corpora, page: lazy(() => import('../corpora/pages')), needs: 'listCorpora' },
  { path: '/lab', name: text.areas.lab, page: lazy(() => import('../lab/pages')), needs: 'query' },
  { path: '/chats', name: text.areas.chats, page: lazy(() => import('../chats/pages')), needs: 'listChats' },
  {
    path: '/presets',
    name: text.areas.presets,
    page: lazy(() => import('../presets/pages')),
    needs: 'createGenerationPreset',
  },
  { path: '/access', name: text.areas.access, page: lazy(() => import('../access/pages')), needs: 'listApiKeys' },
]

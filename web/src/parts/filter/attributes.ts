import { useQuery } from '@tanstack/react-query'
import { call, path } from '../../api/call'
import type { components } from '../../api/schema'
import { type Attribute, builtIn, type Value } from './complete'

type Corpus = components['schemas']['Corpus']
type Statistics = components['schemas']['FilterAttributeStat']

/** Returns what filters of a corpus can refer to, by the attributes that it declares. */
export function referencesOf(
  declared: components['schemas']['FilterAttribute'][],
  documentsAlone = false,
): Attribute[] {
  const all = declared.map<Attribute>((a) => ({
    name: `${a.level === 'part' ? 'part' : 'doc'}.${/^[\p{L}\p{N}_.-]+$/u.test(a.name) ? a.name : `"${a.name}"`}`,
    type: a.type,
    description: a.description || undefined,
  }))
  return [...all, ...builtIn.filter((b) => all.every((a) => a.name !== b.name))].filter(
    (a) => !documentsAlone || a.name.startsWith('doc.'),
  )
}

/** A corpus, for its attributes and dimensions. Whoever may not read it gets along without. */
export function useSearchable(corpus: string) {
  return useQuery({
    queryKey: ['corpora', 'one', corpus],
    queryFn: ({ signal }) => call<Corpus>(path`/v2/corpora/${corpus}`, { signal }),
    enabled: corpus !== '',
    retry: false,
    staleTime: 60_000,
  })
}

/** The values of an attribute, the most frequent first; none while no attribute is named. */
export function useValues(corpus: string, attribute: string | undefined): Value[] {
  const { data } = useQuery({
    queryKey: ['corpora', 'values', corpus, attribute],
    queryFn: ({ signal }) =>
      call<{ filter_attribute_stats: Statistics[] }>(path`/v2/corpora/${corpus}/filter_attribute_stats`, {
        query: { fields: attribute?.replaceAll('"', ''), max_values: 50 },
        signal,
      }),
    enabled: corpus !== '' && attribute !== undefined && attribute !== 'part.is_title',
    retry: false,
    staleTime: 60_000,
  })
  return data?.filter_attribute_stats[0]?.values ?? []
}

import type { ReactNode } from 'react'
import { Button } from '../parts/Button'
import { useAllCorpora } from '../parts/corpusNames'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { Select } from '../parts/Select'
import { text } from '../text/en'

interface Paged {
  isPending: boolean
  isSuccess: boolean
  error: unknown
  hasNextPage: boolean
  isFetchingNextPage: boolean
  refetch: () => Promise<unknown>
  fetchNextPage: () => Promise<unknown>
}

/** A list with its states: on its way, failed, empty, with more to come. */
export function List({
  found,
  count,
  none,
  children,
}: {
  found: Paged
  count: number
  none: string
  children: ReactNode
}) {
  return (
    <>
      {found.isPending && <Loading />}
      {found.error != null && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.isSuccess && count === 0 && <p className="empty">{none}</p>}
      {count > 0 && <ul className="entries">{children}</ul>}
      {found.hasNextPage && (
        <div>
          <Button onClick={() => void found.fetchNextPage()} disabled={found.isFetchingNextPage}>
            {text.corpora.more}
          </Button>
        </div>
      )}
    </>
  )
}

/** A choice of the corpus that a list is about; a key of the address that is not among the first corpora stays. */
export function OfCorpus({ value, change }: { value: string; change: (key: string) => void }) {
  const all = useAllCorpora().data ?? []
  const known = all.some((c) => c.key === value) || value === '' ? all : [...all, { key: value, name: value }]
  return (
    <Select
      label={text.access.ofCorpus}
      value={value}
      onChange={(e) => change(e.target.value)}
      options={[['', text.access.anyCorpus] as const, ...known.map((c) => [c.key, c.name] as const)]}
    />
  )
}

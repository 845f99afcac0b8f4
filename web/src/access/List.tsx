import type { ReactNode } from 'react'
import { Button } from '../parts/Button'
import { CorpusField } from '../parts/CorpusField'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
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
          <Button onClick={() => void found.fetchNextPage()} busy={found.isFetchingNextPage}>
            {text.corpora.more}
          </Button>
        </div>
      )}
    </>
  )
}

/** A choice of the corpus that a list is about. */
export function OfCorpus({ value, change }: { value: string; change: (key: string) => void }) {
  return <CorpusField label={text.access.ofCorpus} value={value} change={change} any={text.access.anyCorpus} />
}

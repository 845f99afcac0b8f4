import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { Confirm } from '../parts/Confirm'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { Stale } from '../parts/Stale'
import { Unread } from '../parts/Unread'
import { text } from '../text/en'
import { remove, useRefresh, useUpdate } from './access'

const t = text.access

interface Read<T> {
  data?: T
  isPending: boolean
  error: unknown
  refetch: () => Promise<unknown>
}

/** The page of one key, person or client, once it has been read. */
export function One<T>({
  found,
  back,
  missing,
  children,
}: {
  found: Read<T>
  back: readonly [href: string, name: string]
  missing: string
  children: (one: T) => ReactNode
}) {
  return (
    <div className="stack">
      <p>
        <Link href={back[0]}>← {back[1]}</Link>
      </p>
      {found.isPending && <Loading />}
      {found.data !== undefined && <Stale error={found.error} gone={missing} />}
      {found.error != null && found.data === undefined && (
        <Unread error={found.error} missing={missing} again={found.refetch} />
      )}
      {found.data !== undefined && children(found.data)}
    </div>
  )
}

interface Ends {
  address: string
  name: string
  enabled: boolean
  /** What disabling and deleting mean, in words of the kind. */
  words: { disable: string; disableWhat: string; enable: string; remove: string; removeWhat: string; removed: string }
  may: { update: boolean; remove: boolean }
  /** What has to be typed before it is deleted; nothing where that is too much to ask. */
  typed?: string
  list: string
  children?: ReactNode
}

/** The two ways to shut somebody out: for a while, and for good. */
export function Shut({ address, name, enabled, words, may, typed, list, children }: Ends) {
  const [asks, setAsks] = useState<'disable' | 'remove'>()
  const update = useUpdate(address)
  const refresh = useRefresh()
  const [, go] = useLocation()
  const put = (on: boolean) =>
    update.mutateAsync({ enabled: on }).then(() => announce(on ? t.nowEnabled(name) : t.nowDisabled(name)))
  const gone = () => {
    announce(words.removed)
    go(list)
    document.getElementById('content')?.focus()
    void refresh(address)
  }
  return (
    <>
      {update.error && !asks && <Failed error={update.error} />}
      <div className="row">
        {may.update &&
          (enabled ? (
            <Button onClick={() => setAsks('disable')}>{words.disable}</Button>
          ) : (
            <Button busy={update.isPending} onClick={() => void put(true).catch(() => undefined)}>
              {words.enable}
            </Button>
          ))}
        {children}
        {may.remove && (
          <Button kind="danger" onClick={() => setAsks('remove')}>
            {words.remove}
          </Button>
        )}
      </div>
      {asks === 'disable' && (
        <Confirm
          title={words.disable}
          what={words.disableWhat}
          act={words.disable}
          run={() => put(false)}
          close={() => setAsks(undefined)}
        />
      )}
      {asks === 'remove' && (
        <Confirm
          title={words.remove}
          what={words.removeWhat}
          act={words.remove}
          typed={typed}
          run={() => remove(address).then(gone)}
          close={() => setAsks(undefined)}
        />
      )}
    </>
  )
}

import { Link } from 'wouter'
import { Button } from '../parts/Button'
import { Failed } from '../parts/Failed'
import { Loading } from '../parts/Loading'
import { moment } from '../parts/locale'
import { Name } from '../parts/Name'
import { useMay } from '../session/caller'
import { text } from '../text/en'
import { type Chat, useChats } from './chats'
import './chats.css'

function Row({ chat }: { chat: Chat }) {
  return (
    <li className="card chat">
      <Link href={`/${encodeURIComponent(chat.id)}`} className="name">
        <Name>{chat.first_query}</Name>
      </Link>
      {chat.enabled === false && <span className="tag">{text.chats.disabled}</span>}
      <p className="about opening" dir="auto">
        {chat.first_answer}
      </p>
      {chat.created_at && (
        <time className="about" dateTime={chat.created_at}>
          {moment(chat.created_at)}
        </time>
      )}
    </li>
  )
}

/** The chats of the account, newest first. */
export function Chats() {
  const found = useChats()
  const may = useMay()
  const all = found.data?.pages.flatMap((p) => p.chats) ?? []
  return (
    <div className="stack">
      <div className="row spread">
        <h1>{text.chats.title}</h1>
        {may('createChat') && may('listChatTurns') && (
          <Link href="/new" className="button" data-kind="first">
            {text.chats.create}
          </Link>
        )}
      </div>
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
      {found.isSuccess && all.length === 0 && <p className="empty">{text.chats.none}</p>}
      <ul className="chats">
        {all.map((c) => (
          <Row key={c.id} chat={c} />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button onClick={() => void found.fetchNextPage()} busy={found.isFetchingNextPage}>
          {text.corpora.more}
        </Button>
      )}
    </div>
  )
}

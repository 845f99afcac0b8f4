import { useEffect, useState } from 'react'
import { useReach } from '../api/reach'
import { announce } from '../parts/announce'
import { Button } from '../parts/Button'
import { reloadKeeping } from '../parts/draft'
import { text } from '../text/en'
import { useNewer } from './newer'

/** Loads the page anew and keeps what is typed; where the browser keeps nothing, it says so first. */
export function Reload() {
  const [lost, setLost] = useState(false)
  const reload = () => {
    if (lost) location.reload()
    else if (!reloadKeeping()) setLost(true)
  }
  return (
    <>
      {lost && <p role="alert">{text.notice.notKept}</p>}
      <Button onClick={reload}>{text.notice.reload}</Button>
    </>
  )
}

/** What is to be known on every page: that the service can't be reached, or has become another version. */
export function Notice() {
  const reach = useReach()
  const newer = useNewer()
  useEffect(() => {
    if (reach !== 'here') announce(text.notice[reach])
    return () => {
      if (reach !== 'here') announce(text.notice.back)
    }
  }, [reach])
  useEffect(() => {
    if (newer) announce(text.notice.newer)
  }, [newer])
  if (reach === 'here' && !newer) return null
  return (
    <section className="notice settles" aria-label={text.notice.label}>
      <p>{reach === 'here' ? text.notice.newer : text.notice[reach]}</p>
      {reach === 'here' && <Reload />}
    </section>
  )
}

import { useEffect, useState } from 'react'
import { text } from '../text/en'

/** Shows that something is on its way, once it has taken long enough to be noticed. */
export function Loading() {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200)
    return () => clearTimeout(timer)
  }, [])
  return (
    <p className="empty" role="status">
      {late ? text.loading : '\u00a0'}
    </p>
  )
}

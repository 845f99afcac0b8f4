import { type ReactNode, useEffect, useState } from 'react'

interface Props {
  title: string
  /** What is set inside, in a few words. */
  set?: string
  /** Whether it is unfolded at first. */
  open?: boolean
  /** Unfolds it, since something inside has to be seen. */
  wrong?: boolean
  children: ReactNode
}

/** A group that can be folded away. It stays as people left it, whatever happens to what is inside. */
export function Folded({ title, set, open = false, wrong = false, children }: Props) {
  const [shown, setShown] = useState(open)
  useEffect(() => {
    if (wrong) setShown(true)
  }, [wrong])
  return (
    <details className="folded" open={shown} onToggle={(e) => setShown(e.currentTarget.open)}>
      <summary>
        {title} {set && <span className="set about">{set}</span>}
      </summary>
      {shown && children}
    </details>
  )
}

import { useEffect, useState } from 'react'
import { call, path } from '../api/call'
import type { components } from '../api/schema'
import { Failed } from '../parts/Failed'
import { text } from '../text/en'
import type { Image } from './blocks'

/** Pictures that can't be more than a picture. Others, such as SVG, are not shown. */
const shown = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Returns the address of a picture within this page, once it was fetched with the credential of this tab. */
function usePicture(corpus: string, document: string, id: string, wanted: boolean) {
  const [address, setAddress] = useState<string>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    if (!wanted) return
    const reading = new AbortController()
    let made: string | undefined
    const read = async () => {
      const found = await call<components['schemas']['Image']>(
        path`/v2/corpora/${corpus}/documents/${document}/images/${id}`,
        { signal: reading.signal },
      )
      if (!shown.includes(found.image_data.mime_type)) return
      const bytes = Uint8Array.from(atob(found.image_data.data), (c) => c.charCodeAt(0))
      if (reading.signal.aborted) return
      made = URL.createObjectURL(new Blob([bytes], { type: found.image_data.mime_type }))
      setAddress(made)
    }
    read().catch((e) => !reading.signal.aborted && setError(e))
    return () => {
      reading.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [corpus, document, id, wanted])
  return { address, error }
}

/** A picture of a document with its words. */
export function Picture({ corpus, document, image }: { corpus: string; document: string; image: Image }) {
  const possible = shown.includes(image.mime_type)
  const { address, error } = usePicture(corpus, document, image.id, possible)
  const [broken, setBroken] = useState(false)
  const words = [image.title, image.caption, image.description].filter(Boolean)
  return (
    <figure className="picture">
      {!possible && <p className="empty">{text.document.noPicture(image.mime_type)}</p>}
      {broken && <p className="empty">{text.document.brokenPicture}</p>}
      {error !== undefined && <Failed error={error} />}
      {possible && !broken && error === undefined && (
        <div className="frame">
          {address && (
            <img
              src={address}
              alt={image.description || image.title || image.caption || text.document.picture}
              onError={() => setBroken(true)}
            />
          )}
        </div>
      )}
      {words.length > 0 && (
        <figcaption>
          {words.map((w) => (
            <p key={w} dir="auto">
              {w}
            </p>
          ))}
        </figcaption>
      )}
    </figure>
  )
}

import { memo, useMemo, useState } from 'react'
import { Button } from '../parts/Button'
import { Long } from '../parts/Long'
import { number } from '../parts/locale'
import { text } from '../text/en'
import { type Block, blocksOf, type Numbered } from './blocks'
import type { Document } from './documents'
import { Pairs } from './Pairs'
import { Picture } from './Picture'
import { TableView } from './TableView'

/** How many blocks are shown at once. */
const some = 200

/** One part as it was indexed, with its metadata. */
function Chunk({ of: { n, part } }: { of: Numbered }) {
  return (
    <div className="chunk">
      <p className="about">
        {text.document.part(number(n))} · {text.document.characters(number(part.text.length))}
      </p>
      <p dir="auto" className="prose">
        <Long text={part.text} />
      </p>
      {part.context && (
        <details>
          <summary>{text.document.context}</summary>
          <p dir="auto" className="prose">
            <Long text={part.context} />
          </p>
        </details>
      )}
      {part.metadata && Object.keys(part.metadata).length > 0 && (
        <details>
          <summary>{text.document.partMetadata}</summary>
          <Pairs metadata={part.metadata} />
        </details>
      )}
    </div>
  )
}

function Heading({ depth, children }: { depth: number; children: string }) {
  const level = Math.min(6, 3 + depth) as 3 | 4 | 5 | 6
  const Tag = `h${level}` as const
  return (
    <Tag dir="auto">
      <Long text={children} most={500} />
    </Tag>
  )
}

interface Props {
  corpus: string
  document: string
  block: Block
}

const Read = memo(({ corpus, document, block }: Props) => {
  switch (block.is) {
    case 'heading':
      return <Heading depth={block.depth}>{block.parts[0]?.part.text ?? ''}</Heading>
    case 'table':
      return <TableView table={block.table} />
    case 'picture':
      return <Picture corpus={corpus} document={document} image={block.image} />
    case 'text':
      return (
        <p dir="auto" className="prose">
          <Long text={block.parts.map((p) => p.part.text).join(' ')} />
        </p>
      )
  }
})

/** The text of a document as people read it, or as it was cut into parts. */
export function Body({ corpus, document, chunks }: { corpus: string; document: Document; chunks: boolean }) {
  const blocks = useMemo(() => blocksOf(document), [document])
  const [most, setMost] = useState(some)
  return (
    <div className="body" data-chunks={chunks}>
      {blocks.length === 0 && <p className="empty">{text.document.nothing}</p>}
      {blocks.slice(0, most).map((block, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have nothing but their place
        <div className="block" key={i}>
          {(!chunks || block.is === 'table' || block.is === 'picture') && (
            <Read corpus={corpus} document={document.id} block={block} />
          )}
          {chunks && block.parts.map((one) => <Chunk key={one.n} of={one} />)}
        </div>
      ))}
      {blocks.length > most && (
        <Button onClick={() => setMost(most + 5 * some)}>
          {text.document.more(number(most), number(blocks.length))}
        </Button>
      )}
    </div>
  )
}

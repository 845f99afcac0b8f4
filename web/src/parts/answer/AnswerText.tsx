import { text } from '../../text/en'
import type { Passage } from './answer'
import { pieces } from './marks'
import { titleOf } from './Passages'
import './answer.css'

/** The text of an answer, whose marks lead to the passages that they name. */
export function AnswerText({ of, passages, open }: { of: string; passages: Passage[]; open: (n: number) => void }) {
  return (
    <p className="answer" dir="auto">
      {pieces(of, passages.length).map((piece, i) =>
        'text' in piece ? (
          piece.text
        ) : (
          <button
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces only grow at their end
            key={i}
            type="button"
            className="mark"
            aria-label={text.ask.citation(piece.passage, titleOf(passages[piece.passage - 1]))}
            onClick={() => open(piece.passage)}
          >
            {piece.passage}
          </button>
        ),
      )}
    </p>
  )
}

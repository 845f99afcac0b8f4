import type { Passage } from './answer'
import { Markdown } from './Markdown'
import './answer.css'

const none: Passage[] = []
const nowhere = () => undefined

/** The text of an answer, whose marks lead to the passages that they name. */
export function AnswerText({ of, passages, open }: { of: string; passages?: Passage[]; open?: (n: number) => void }) {
  return (
    <div className="answer" dir="auto">
      <Markdown of={of} passages={passages ?? none} open={open ?? nowhere} />
    </div>
  )
}

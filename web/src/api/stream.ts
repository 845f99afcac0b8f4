import { text } from '../text/en'

/** An event of a stream of the service: its data, by its type. */
export interface StreamEvent {
  type: string
  [member: string]: unknown
}

/**
 * Frames cuts a stream of bytes into events. Bytes come in pieces of any size, so characters and lines may be cut
 * anywhere. Each event is one line of JSON behind "data:"; everything else, such as keep-alives, is skipped.
 */
export class Frames {
  private decoder = new TextDecoder()
  private rest = '';

  *push(bytes: Uint8Array): Generator<StreamEvent> {
    this.rest += this.decoder.decode(bytes, { stream: true })
    const lines = this.rest.split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data:')) yield eventIn(line.slice(5))
  }
}

function eventIn(data: string): StreamEvent {
  try {
    return JSON.parse(data) as StreamEvent
  } catch {
    throw new CutOff()
  }
}

/** Yields the events of an answer until "end". A stream that stops before it is cut off. */
export async function* events(answer: Response): AsyncGenerator<StreamEvent> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Error(text.failure.foreign(answer.status))
  const reader = answer.body?.getReader()
  if (!reader) throw new CutOff()
  const frames = new Frames()
  try {
    for (;;) {
      const { value, done } = await reader.read().catch((e: unknown) => {
        throw e instanceof DOMException && e.name === 'AbortError' ? e : new CutOff()
      })
      if (done) throw new CutOff()
      for (const event of frames.push(value)) {
        yield event
        if (event.type === 'end') return
      }
    }
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

/** CutOff is a stream that stopped in the middle. */
export class CutOff extends Error {
  constructor() {
    super(text.failure.cutOff)
  }
}

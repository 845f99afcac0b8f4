import { expect, test } from 'vitest'
import { CutOff, Frames, type StreamEvent } from './stream'

const sent =
  ': ping\n\nevent:generation_chunk\ndata:{"type":"generation_chunk","generation_chunk":"Grüße, 世界 \\n"}\n\nevent:end\ndata: {"type":"end"}\n\n'
const want: StreamEvent[] = [{ type: 'generation_chunk', generation_chunk: 'Grüße, 世界 \n' }, { type: 'end' }]

test('a stream cut at every byte has the same events', () => {
  const bytes = new TextEncoder().encode(sent)
  for (let at = 0; at <= bytes.length; at++) {
    const frames = new Frames()
    expect([...frames.push(bytes.slice(0, at)), ...frames.push(bytes.slice(at))]).toEqual(want)
  }
})

test('a stream that comes byte by byte has the same events', () => {
  const frames = new Frames()
  expect([...new TextEncoder().encode(sent)].flatMap((b) => [...frames.push(Uint8Array.of(b))])).toEqual(want)
})

test('what came before a broken event is there', () => {
  const seen: StreamEvent[] = []
  expect(() => {
    for (const e of new Frames().push(new TextEncoder().encode(`${sent}data:{"type":\n`))) seen.push(e)
  }).toThrow(CutOff)
  expect(seen).toEqual(want)
})

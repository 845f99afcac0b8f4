import { expect, test } from 'vitest'
import { instant, timeline } from './history'

test('a timeline reaches to the end of the last span', () => {
  const all = timeline({
    id: 'q',
    started_at: '2026-03-02T09:30:00.000Z',
    latency_millis: 30,
    spans: [
      { type: 'search', started_at: '2026-03-02T09:30:00.000Z', latency_millis: 10 },
      { type: 'rerank', started_at: '2026-03-02T09:30:00.010Z', latency_millis: 30 },
    ],
  })
  expect(all.map(({ begins, takes, from, width }) => [begins, takes, from, width])).toEqual([
    [0, 10, 0, 25],
    [10, 30, 25, 75],
  ])
  expect(timeline({ id: 'q' })).toEqual([])
})

test('a time of a form becomes an instant', () => {
  expect(instant('2026-03-02T09:30')).toBe(new Date(2026, 2, 2, 9, 30).toISOString())
  expect(instant('')).toBeUndefined()
  expect(instant('soon')).toBeUndefined()
})

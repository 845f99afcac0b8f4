import { expect, test } from 'vitest'
import { pagesIn } from './sample'

test('the pages of the guide, each once, and nothing else', () => {
  const html =
    '<a href="/guide/search">a</a><a href="/guide/search">b</a><a href="/docs">c</a><a href="/guide/back-up#x">d</a>'
  expect(pagesIn(`${html}<a href="/guide/access">e</a>`)).toEqual(['/guide/search', '/guide/access'])
})

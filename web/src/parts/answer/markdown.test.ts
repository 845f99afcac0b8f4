import { expect, test } from 'vitest'
import { blocksOf, cut } from './blocks'
import { type Inline, inline } from './inline'

/** Writes pieces shortly: what they are, and what is inside. */
function short(all: Inline[]): string {
  return all
    .map((one) => {
      switch (one.kind) {
        case 'text':
          return one.text
        case 'passage':
          return `{${one.n}}`
        case 'code':
          return `code(${one.text})`
        case 'link':
          return `link(${short(one.inside)} ${one.href} ${one.host})`
        default:
          return `${one.kind}(${short(one.inside)})`
      }
    })
    .join('')
}

test.each([
  ['plain', 'plain'],
  ['**bold** and *thin* and ~~gone~~', 'strong(bold) and em(thin) and struck(gone)'],
  ['***both***', 'strong(em(both))'],
  ['**a *b* c**', 'strong(a em(b) c)'],
  ['snake_case_name and _thin_', 'snake_case_name and em(thin)'],
  ['5 * 3 * 2', '5 * 3 * 2'],
  ['**never closed', '**never closed'],
  ['*a **b*', 'em(a **b)'],
  ['`a * b *` ``x ` y``', 'code(a * b *) code(x ` y)'],
  ['`open', '`open'],
  ['\\*no\\*', '*no*'],
  ['see [1] and [2, 3]', 'see {1} and {2}{3}'],
  ['**[1]**', 'strong({1})'],
  ['[1]() [9]', '{1} [9]'],
  ['[a](https://x.test/y)', 'link(a https://x.test/y x.test)'],
  ['[**a**](https://x.test/(y) "t")', 'link(strong(a) https://x.test/(y) x.test)'],
  [
    '[https://good.test](https://good.test@evil.test/)',
    'link(https://good.test https://good.test@evil.test/ evil.test)',
  ],
  ['![p](https://x.test/p.png)', 'link(p https://x.test/p.png x.test)'],
  ['<https://x.test>', 'link(https://x.test https://x.test/ x.test)'],
  ['(https://x.test/a_b_(c)).', '(link(https://x.test/a_b_(c) https://x.test/a_b_(c) x.test)).'],
  ['[a](javascript:alert(1))', '[a](javascript:alert(1))'],
  [
    '[a](JaVaScRiPt:alert(1)) [b](data:text/html,x) [c](//x.test)',
    '[a](JaVaScRiPt:alert(1)) [b](data:text/html,x) [c](//x.test)',
  ],
  ['[a](https://x.test/\u202egnp.exe)', '[a](https://x.test/\u202egnp.exe)'],
  ['<javascript:alert(1)>', '<javascript:alert(1)>'],
  ['<b onclick="x">**y**</b>', '<b onclick="x">strong(y)</b>'],
  ['[a](https://)', '[a](https://)'],
])('the pieces of %j', (line, want) => {
  expect(short(inline(line, 3))).toBe(want)
})

test('blocks', () => {
  expect(
    blocksOf(
      '# Title #\nOne\nline\n\n- a\n  - b\n\n    more\n- c\nrest\n\n3. x\n4. y\n\n> q\n> - r\n\n| a | b |\n|---|:-:|\n| 1 \\| 2 | 3 |\n\n---\n```js\n# no\n```\nend',
    ),
  ).toEqual([
    { kind: 'heading', text: 'Title #' },
    { kind: 'text', text: 'One\nline' },
    {
      kind: 'list',
      start: undefined,
      items: [
        [
          { kind: 'text', text: 'a' },
          {
            kind: 'list',
            start: undefined,
            items: [
              [
                { kind: 'text', text: 'b' },
                { kind: 'text', text: 'more' },
              ],
            ],
          },
        ],
        [{ kind: 'text', text: 'c\nrest' }],
      ],
    },
    { kind: 'list', start: 3, items: [[{ kind: 'text', text: 'x' }], [{ kind: 'text', text: 'y' }]] },
    {
      kind: 'quote',
      blocks: [
        { kind: 'text', text: 'q' },
        { kind: 'list', start: undefined, items: [[{ kind: 'text', text: 'r' }]] },
      ],
    },
    { kind: 'table', head: ['a', 'b'], rows: [['1 | 2', '3']] },
    { kind: 'rule' },
    { kind: 'code', text: '# no' },
    { kind: 'text', text: 'end' },
  ])
})

test('a fence that is not closed goes on to the end', () => {
  expect(blocksOf('a\n~~~\n<b>\n```\n\n- x')).toEqual([
    { kind: 'text', text: 'a' },
    { kind: 'code', text: '<b>\n```\n\n- x' },
  ])
})

test('pieces of a text that grows stay as they are', () => {
  const whole = '# A\n\none **two**\n\n- x\n- y\n\n```\ncode\n```\n\nlast'
  for (let n = 1; n <= whole.length; n++) {
    const now = cut(whole.slice(0, n))
    expect(cut(whole).slice(0, now.length - 1)).toEqual(now.slice(0, -1))
  }
})

test.each([
  '>',
  '- ',
  '  - ',
  '*',
  '_a ',
  '`',
  '``` `',
  '[',
  '![a](',
  '[a](()',
  '](',
  '~~',
  '|',
  '|-',
  '<https://',
  'https://(',
  ')',
  '#',
  '\\',
  '***a',
  '- -',
  '\n',
  '> - ',
])('100,000 characters of %j are read at once', (part) => {
  const long = part.repeat(100_000 / part.length)
  for (const block of blocksOf(long)) if ('text' in block) inline(block.text, 3)
  for (const block of blocksOf(`${part}\n`.repeat(20_000))) if ('text' in block) inline(block.text, 3)
  inline(long, 3)
  inline(`https://x.test/${long}`, 3)
})

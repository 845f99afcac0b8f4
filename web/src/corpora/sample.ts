import { send } from '../api/call'

/** Where the service shows its guide, to everybody. */
const guide = '/guide'

/** Returns the addresses of the pages that a list of pages links to, each once. */
export function pagesIn(html: string): string[] {
  const found = [...html.matchAll(/href="(\/guide\/[a-z0-9-]+)"/g)].map((m) => m[1] ?? '')
  return [...new Set(found)]
}

/** Returns the pages of the guide as files, which are something to ask about before there are documents of one's own. */
export async function guideFiles(): Promise<{ path: string; file: File }[]> {
  const pages = pagesIn(await (await send(guide)).text())
  return Promise.all(
    pages.map(async (page) => {
      const name = `${page.slice(guide.length + 1)}.html`
      return { path: name, file: new File([await (await send(page)).text()], name, { type: 'text/html' }) }
    }),
  )
}

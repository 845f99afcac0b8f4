import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

interface Part {
  name: string
  version: string
  license: string
  texts: { name: string; content: string }[]
}

/** Matches the names of files that say what may be done with a package. */
const aboutRights = /^(licen[cs]e|copying|copyright|notice|patents)([-._].*)?$/i

/** Returns the folder of the package that a module is from, undefined for our own. */
function folderOf(module: string): string | undefined {
  return /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(module.replace(/^\0/, ''))?.[1]
}

function read(folder: string): Part {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Part
  const texts = readdirSync(folder)
    .filter((file) => aboutRights.test(file))
    .sort()
    .map((file) => ({ name: file, content: readFileSync(join(folder, file), 'utf8') }))
  if (texts.length === 0 && license !== 'Unlicense') throw new Error(`${name} has no file with its licence`)
  return { name, version, license, texts }
}

/** Writes parts.json beside the page: which packages the console contains, with their licences, for NOTICE and releases. */
export function parts(): Plugin {
  return {
    name: 'parts',
    generateBundle(_, bundle) {
      const folders = new Set<string>()
      for (const file of Object.values(bundle)) {
        if (file.type !== 'chunk') continue
        for (const folder of file.moduleIds.map(folderOf)) if (folder) folders.add(folder)
      }
      const all = [...folders].map(read).sort((a, b) => (a.name < b.name ? -1 : 1))
      this.emitFile({ type: 'asset', fileName: 'parts.json', source: `${JSON.stringify(all, null, 1)}\n` })
    },
  }
}

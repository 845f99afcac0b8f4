/** A file with its path below what was dropped or chosen. */
export interface Found {
  path: string
  file: File
}

/** Returns the files in what was dropped, folders included. Files whose name begins with a dot are left out. */
export async function dropped(data: DataTransfer): Promise<Found[]> {
  const entries = [...data.items].map((i) => i.webkitGetAsEntry()).filter((e): e is FileSystemEntry => e !== null)
  if (entries.length === 0) return chosen(data.files)
  const out: Found[] = []
  for (const entry of entries) await walk(entry, out)
  return out
}

/** Returns the files of an input. */
export function chosen(files: FileList): Found[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))
}

async function walk(entry: FileSystemEntry, out: Found[]) {
  if (entry.name.startsWith('.')) return
  if (entry.isFile) {
    const file = await new Promise<File>((ok, bad) => (entry as FileSystemFileEntry).file(ok, bad))
    out.push({ path: entry.fullPath.replace(/^\//, ''), file })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A reader returns a hundred entries at most, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((ok, bad) => reader.readEntries(ok, bad))
    if (some.length === 0) return
    for (const one of some) await walk(one, out)
  }
}

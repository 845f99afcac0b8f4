import { headersOf, path, unreachable } from '../api/call'
import { type Asked, Failure, messageOf } from '../api/failure'
import { credential, signedOut } from '../session/session'
import { text } from '../text/en'

type Progress = { at: 'sending'; percent: number } | { at: 'reading' }

/** The parts of an answer that are needed here. */
interface Outcome {
  status: number
  body: string
  header: (name: string) => string
}

/**
 * Sends a file as a document with its path as id, and returns how many passages it has. A document that has the id gives way,
 * or the file is refused with a conflict. A person whose sign-in ends meanwhile is asked to sign in again, and the file is
 * sent once more.
 */
export async function sendFile(
  corpus: string,
  id: string,
  file: File,
  taken: 'replace' | 'keep',
  report: (p: Progress) => void,
): Promise<number> {
  const conflict = taken === 'replace' ? 'replace' : 'fail'
  const asked: Asked = { method: 'POST', path: `${path`/v2/corpora/${corpus}/upload_file`}?on_conflict=${conflict}` }
  for (;;) {
    const used = credential()
    const form = new FormData()
    form.set('filename', id)
    form.set('file', file, id.split('/').pop())
    const out = await post(asked, form, headersOf(used), report)
    if (out.status < 300) return Number(out.header('x-quarry-passages')) || 0
    const said = messageOf(out.body)
    if (out.status !== 401 || !said || !used)
      throw new Failure(asked, out.status, said || text.failure.foreign(out.status), {
        requestId: out.header('x-request-id'),
        after: Number(out.header('retry-after')) || 0,
      })
    await signedOut(used)
  }
}

/** Posts a form and reports how much of it has left, which fetch can't tell. */
function post(
  asked: Asked,
  form: FormData,
  headers: Record<string, string>,
  report: (p: Progress) => void,
): Promise<Outcome> {
  return new Promise((done, failed) => {
    const x = new XMLHttpRequest()
    x.open(asked.method, asked.path)
    for (const [name, value] of Object.entries(headers)) x.setRequestHeader(name, value)
    x.upload.onprogress = (e) => report({ at: 'sending', percent: Math.floor((100 * e.loaded) / (e.total || 1)) })
    x.upload.onload = () => report({ at: 'reading' })
    x.onerror = () => failed(unreachable(asked))
    x.onload = () => done({ status: x.status, body: x.responseText, header: (name) => x.getResponseHeader(name) ?? '' })
    x.send(form)
  })
}

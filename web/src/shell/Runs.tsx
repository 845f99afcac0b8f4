import { useState } from 'react'
import { Link } from 'wouter'
import { ended, type Upload, useUploads } from '../documents/uploads'
import { Button } from '../parts/Button'
import { Dialog } from '../parts/Dialog'
import { JobLine } from '../parts/JobLine'
import { jobEnded, useJobs, useStartedJobs } from '../parts/jobs'
import { text } from '../text/en'

/** Uploads by corpus, in the order in which they began. */
function byCorpus(all: Upload[]): Map<string, Upload[]> {
  const out = new Map<string, Upload[]>()
  for (const u of all) out.set(u.corpus, [...(out.get(u.corpus) ?? []), u])
  return out
}

/** What runs, wherever it was started: files on their way and jobs. Its place is kept where nothing has run, so that nothing jumps. */
export function Runs() {
  const [open, setOpen] = useState(false)
  const uploads = useUploads()
  const jobs = useStartedJobs()
  const states = useJobs(jobs)
  const running = uploads.filter((u) => !ended(u)).length + states.filter((j) => j && !jobEnded(j)).length
  return (
    <>
      <Button
        kind="quiet"
        className="running"
        data-any={uploads.length + jobs.length > 0}
        aria-label={running > 0 ? text.runs.running(running) : text.runs.done}
        onClick={() => setOpen(true)}
      >
        {running > 0 ? `⟳ ${running}` : '✓'}
      </Button>
      <Dialog title={text.runs.title} open={open} close={() => setOpen(false)}>
        <ul className="stack runs">
          {[...byCorpus(uploads)].map(([corpus, all]) => (
            <li key={corpus}>
              <Link href={`/corpora/${encodeURIComponent(corpus)}`} onClick={() => setOpen(false)}>
                {corpus}
              </Link>{' '}
              {text.uploads.summary(
                all.filter((u) => u.state.at === 'done').length,
                all.length,
                all.filter((u) => u.state.at === 'failed').length,
              )}
            </li>
          ))}
          {jobs.map((id) => (
            <li key={id}>
              <JobLine id={id} />
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  )
}

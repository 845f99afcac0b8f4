import { text } from '../text/en'
import { Failed } from './Failed'
import { useJob } from './jobs'

/** What a job does, how far it is, and how it ended. */
export function JobLine({ id }: { id: string }) {
  const { data: job, error } = useJob(id)
  if (error) return <Failed error={error} />
  if (!job) return null
  return (
    <p className="job" data-state={job.state}>
      <strong>{text.jobs.types[job.type ?? 'unknown']}</strong> <span>{text.jobs.states[job.state ?? 'queued']}</span>
      {job.comment && <span className="comment">{job.comment}</span>}
    </p>
  )
}

// Package job is the queue of background work: what is asked for is a row before it begins, so it outlives the process
// that took it; one worker at a time has it by a lease; what fails is tried again, later each time. Services enqueue
// requests and give the queue a Handler per type; package app runs the workers. It knows no work by itself, and is not
// for work that a request can do while its client waits a moment.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quarry/internal/id"
	"quarry/internal/page"
)

// Type says what a job does.
type Type string

// The types that the contract names. Others are shown to clients as "unknown".
const (
	RebuildVectorIndex         Type = "rebuild_vector_index"
	ReplaceFilterAttributes    Type = "replace_filter_attributes"
	BulkDeleteDocuments        Type = "bulk_delete_documents"
	BulkUpdateDocumentMetadata Type = "bulk_update_document_metadata"
)

// State is how far a job is: queued → started → completed, failed or aborted; failed_will_retry returns to started.
type State string

// The states of a job.
const (
	Queued    State = "queued"
	Started   State = "started"
	Completed State = "completed"
	Failed    State = "failed"
	WillRetry State = "failed_will_retry"
	Aborted   State = "aborted"
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Completed || s == Failed || s == Aborted }

// Job is one piece of work. No is the store's row number, never shown.
type Job struct {
	No         int64
	ID         id.Job
	Type       Type
	State      State
	Account    string // whose turn it takes; see Store.Claim
	CreatedBy  string // username, "" for the system's own jobs
	CorpusKeys []string
	Lane       string // "" or the name of a lane: jobs of one lane run one after another, oldest first
	Comment    string // for the user: progress, or why it failed
	Created    time.Time
	Started    time.Time // first start; zero until then
	Completed  time.Time // when it reached its final state; zero until then
	Attempt    int       // starts since the last checkpoint that showed progress, 0 before the first
	Input      json.RawMessage
	Progress   json.RawMessage // last checkpoint of its handler, nil before the first
}

// Request asks for a job.
type Request struct {
	Type      Type
	Account   string
	CreatedBy string
	Corpora   []string // keys; deleting one of these corpora aborts the job
	Exclusive string   // lane, "" for none
	Input     any      // JSON for the handler
}

// Handler does the work of one type and gives the comment that a completed job shows. A handler may be called again
// with the same job, after a crash or a failure, and then goes on from Work.Job.Progress; so what it does must be
// harmless to repeat from its last checkpoint. Its ctx ends when the service stops and when the job is no longer its
// own. nil completes the job; ErrAborted aborts it; a fault that trying again can't mend fails it; anything else is
// tried again with growing pauses and fails the job after a while.
type Handler func(ctx context.Context, w *Work) (comment string, err error)

// ErrAborted is returned by a handler whose corpus is gone, and by Work.Save when the job was aborted or given to another
// worker meanwhile; the handler then stops.
var ErrAborted = errors.New("the job was aborted")

// List says which jobs to list, newest first, ties by descending id.
type List struct {
	Account string
	Limit   int
	Before  *page.Position // the last one shown, nil for the first page
	Corpora []string       // jobs of any of these, when not empty
	After   time.Time      // created after this instant, when not zero
	States  []State        // in any of these, when not empty
}

// Lease is a worker's right to a job. Holder is a fresh random text per claim: a worker that lost its lease can't write.
type Lease struct {
	No     int64
	Holder string
	Until  time.Time
}

// Checkpoint is what Save writes.
type Checkpoint struct {
	Progress json.RawMessage // nil keeps what is there
	Comment  *string         // nil keeps what is there
}

// Outcome is how a worker gives a job back.
type Outcome struct {
	State   State     // final, or WillRetry or Queued
	Comment string    // "" keeps what is there
	At      time.Time // now: the instant of completion
	Due     time.Time // when it may be claimed again, for WillRetry and Queued
}

// Store keeps jobs. Instants are given by the caller, to the microsecond; nodes over one database need clocks that
// agree within a fraction of the lease.
type Store interface {
	// Add writes a job in state Queued that may be claimed at once, and gives it with No set.
	Add(ctx context.Context, j Job) (Job, error)
	// Get gives a job of an account; fault.KindNotFound "job_not_found" when there is none.
	Get(ctx context.Context, account string, id id.Job) (Job, error)
	// List gives up to l.Limit jobs, without Input and Progress, and whether more follow.
	List(ctx context.Context, l List) (page []Job, more bool, err error)
	// Claim takes a due job of one of the types: new, due to be tried again, or started under a lease that has run out.
	// Accounts take turns; within an account the oldest goes first, but one whose lane has an older unfinished job or a
	// started one waits. The job comes back Started, with one more attempt; ok is false when none is due.
	Claim(ctx context.Context, types []Type, now time.Time, l Lease) (j Job, ok bool, err error)
	// Save extends a lease and writes a checkpoint; ErrAborted when the lease is no longer the worker's. A checkpoint with
	// another progress than the last sets Attempt to 1.
	Save(ctx context.Context, l Lease, c Checkpoint) error
	// End gives a job back; ErrAborted when the lease is no longer the worker's. Queued takes back the attempt.
	End(ctx context.Context, l Lease, o Outcome) error
	// Free ends every lease: of a process that was alone with the database and died.
	Free(ctx context.Context, now time.Time) error
	// Sweep removes the jobs that ended before an instant.
	Sweep(ctx context.Context, before time.Time) error
}

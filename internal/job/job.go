// Package job is the queue of background work. A job is a row in the database before it starts, so it outlives the process
// that runs it; a worker holds it by a lease that no other worker shares; a job that fails is tried again after a growing
// pause. Services enqueue requests and register a Handler per type; package app runs the workers. The queue knows nothing
// about the work itself, and is not for work that is done while a client waits for its response.
package job

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"quarry/internal/id"
	"quarry/internal/page"
)

// Type is the kind of work that a job does.
type Type string

// The types that the contract names. Others are shown to clients as "unknown".
const (
	RebuildVectorIndex         Type = "rebuild_vector_index"
	ReplaceFilterAttributes    Type = "replace_filter_attributes"
	BulkDeleteDocuments        Type = "bulk_delete_documents"
	BulkUpdateDocumentMetadata Type = "bulk_update_document_metadata"
)

// State is where a job stands: queued → started → completed, failed or aborted; failed_will_retry returns to started.
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
	Account    string // accounts take turns; see Store.Claim
	CreatedBy  string // username, "" for the system's own jobs
	CorpusKeys []string
	Lane       string // jobs of one lane run one at a time, oldest first; "" for a job that may run beside any other
	Comment    string // for the user: progress, or why it failed
	Created    time.Time
	Started    time.Time // first start; zero until then
	Completed  time.Time // when it reached its final state; zero until then
	Attempt    int       // starts since the last checkpoint with new progress; 0 before the first start
	Input      json.RawMessage
	Progress   json.RawMessage // last checkpoint of its handler, nil before the first
}

// Request asks for a job.
type Request struct {
	ID        id.Job // that the job is found by again; "" for a fresh one. One that is taken is an error
	Type      Type
	Account   string
	CreatedBy string
	Corpora   []string // keys; deleting one of these corpora aborts the job
	Lane      string   // see Job.Lane
	Once      bool     // an unfinished job of this type and lane is returned in its place
	Input     any      // encoded as JSON for the handler
}

// Handler does the work of one type and returns the comment that the completed job shows. It is called again with the
// same job after a crash or a failure, and then continues from its last checkpoint, so the work since that checkpoint must
// be harmless to repeat. Its ctx ends when the service stops and when the worker loses the job. The error decides what
// happens next: nil completes the job, ErrAborted aborts it, a permanent fault (see permanent) fails it at once, and
// after any other error it is tried again with growing pauses and fails after maxAttempts.
type Handler func(ctx context.Context, w *Work) (comment string, err error)

// ErrAborted is returned by a handler whose corpus is gone, and by Work.Save when the job was aborted or another worker
// holds it now; the handler must then return.
var ErrAborted = errors.New("the job was aborted")

// List selects the jobs of a list, newest first, ties by descending id.
type List struct {
	Account string
	Limit   int
	Before  *page.Position // last job of the page before, nil for the first page
	Corpora []string       // jobs of any of these, when not empty
	After   time.Time      // created after this instant, when not zero
	States  []State        // in any of these, when not empty
}

// Lease is a worker's exclusive right to a job until an instant. Holder is a fresh random text per claim, so a worker whose
// lease ran out and was claimed by another can no longer write, even in the same process.
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

// Outcome is the state in which a worker ends its lease.
type Outcome struct {
	State   State     // final, or WillRetry or Queued
	Comment string    // "" keeps what is there
	At      time.Time // now: the instant of completion
	Due     time.Time // when it may be claimed again, for WillRetry and Queued
}

// Store keeps jobs. The caller passes all instants, from package clock. A lease is compared with the clock of the node
// that claims, so the clocks of nodes over one database must agree within a fraction of leaseTime.
type Store interface {
	// Add writes a job in state Queued that may be claimed at once, and returns it with No set.
	Add(ctx context.Context, j Job) (Job, error)
	// AddOnce is Add unless there is an unfinished job of the same type and lane, which it returns. Of calls at once, also those
	// of several processes, one writes its job.
	AddOnce(ctx context.Context, j Job) (Job, error)
	// Get returns a job of an account; fault.KindNotFound "job_not_found" when there is none.
	Get(ctx context.Context, account string, id id.Job) (Job, error)
	// List returns up to l.Limit jobs, without Input and Progress, and whether more follow.
	List(ctx context.Context, l List) (page []Job, more bool, err error)
	// Claim takes a due job of one of the types: a new one, one whose pause is over, or a started one whose lease has run
	// out. Accounts take turns; within an account the oldest job goes first, except that a job waits while its lane has an
	// older unfinished job or a started one. The job is returned Started, with one more attempt; ok is false when none is
	// due.
	Claim(ctx context.Context, types []Type, now time.Time, l Lease) (j Job, ok bool, err error)
	// Save extends a lease and writes a checkpoint; ErrAborted when the worker no longer holds the job. New progress sets
	// Attempt to 1: only attempts in vain count towards maxAttempts.
	Save(ctx context.Context, l Lease, c Checkpoint) error
	// End ends the lease with an outcome; ErrAborted when the worker no longer holds the job. Queued takes the attempt back.
	End(ctx context.Context, l Lease, o Outcome) error
	// Free ends every lease. It is for the start of a process that is alone with its database: the leases are of one that
	// died.
	Free(ctx context.Context, now time.Time) error
	// Sweep removes the jobs that ended before an instant.
	Sweep(ctx context.Context, before time.Time) error
}

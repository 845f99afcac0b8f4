package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/agent/permit"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/id"
	"quarry/internal/trace"
	"quarry/internal/usage"
)

// MaxQueued is how many inputs wait behind a turn at most.
const MaxQueued = 100

// Caller is who has sent an input, or opens a session. The JSON names are those of the store.
type Caller struct {
	permit.Rights
	reference.Caller // who that is; empty where nobody is known, as behind a schedule
	// Payers are the agents whose calls have led to the input, the first one first, each as often as it takes part; none where a client
	// has sent it. What the turn spends is charged to them, too.
	Payers []usage.Account `json:"payers,omitempty"`
	// Trace is where the turn joins the trace of the call that has led to the input; nil where a client has sent it.
	Trace *trace.Parent `json:"trace,omitempty"`
}

// Input is a message on its way into a session.
type Input struct {
	Session int64
	Event   id.Event // that its event will have
	Parts   []Part
	// Files come with the input, before its parts: they are held, and the store gives them their ids. Their event has the id
	// Upload where there are parts, too, else Event.
	Files  []artifact.Artifact
	Upload id.Event
	// Compaction, if not nil, is asked for in place of a message: Event is the one that it will write, there are no parts and no
	// files, and it waits behind a running turn.
	Compaction *Wish
	Queue      bool // wait behind a running turn; otherwise a running turn is fault.KindConflict "session_busy"
	Steer      bool // in the queue: go on in the turn that is running
	Caller     Caller
	Full       error // why no turn may begin for it now, which then is the error; nil if one may
}

// Wish is a compaction that was asked for. The JSON names are those of the store.
type Wish struct {
	UpTo    id.Event `json:"up_to,omitempty"`   // the last event that is summed up; "": those of all turns but the ones to keep
	Message string   `json:"message,omitempty"` // what the summary should heed; "": what the session says
}

// Outcome is what became of an input.
type Outcome string

// The outcomes. Began: a run has begun and the caller of Accept holds its lease. Again: the same for an input that was there
// and whose turn had failed without an event behind it. Waiting: the input is queued. Known: every part was there.
const (
	Began   Outcome = "began"
	Again   Outcome = "again"
	Waiting Outcome = "waiting"
	Known   Outcome = "known"
)

// Accepted is an input that is durable.
type Accepted struct {
	Outcome Outcome
	Event   id.Event // of the input; of Known the event that holds the first of its parts
	Begun   Event    // Began and Again: its first event; empty for a compaction
	Last    int64    // ord of the last event as the turn begins; of a compaction that waits, as it was accepted
	Run     Run      // Began and Again
}

// Lease is the right to work on a session. Holder is fresh for every claim, so a process whose lease ran out and was claimed
// by another can no longer write.
type Lease struct {
	Session int64
	Holder  string
	Node    string // the process, by which leases are renewed together
	Until   time.Time
}

// Run is the work on a session with the turn that is in progress.
type Run struct {
	Lease
	AgentNo     int64
	Turn        int64     // number of the turn
	First       int64     // ord of the input that it began with, which is the first event of the turn; of a compaction the ord that its event will have
	Opening     int       // how many events that input is: two with files and parts, none for a compaction
	Revision    int64     // of the agent's configuration that it began with
	Step        string    // that it is on; "" = the agent's first
	Transitions int       // taken so far
	Calls       int       // of the model so far
	Began       time.Time // the turn
	Caller      Caller    // of the input that it began with
	Secrets     int64     // the state of the agent's secrets that it began with
	// Resolved is what was resolved at its start. A secret text is not read with the run; see Log.Resolved.
	Resolved    tool.Kept
	Interrupted bool
	Recovered   int         // how often it was taken over since its last event
	Compaction  *Compacting // in place of a turn; nil for a turn
	Trace       trace.Thread
}

// Compacting is a compaction in progress, or one that waits.
type Compacting struct {
	Event id.Event `json:"event"` // that it will write
	Wish
}

// Base returns the ord of the last event as the turn begins.
func (r *Run) Base() int64 { return r.First + int64(r.Opening) - 1 }

// Interruption returns the id under which readers are told that the turn was interrupted. It is the same in every process, as
// nothing is stored under it.
func (r *Run) Interruption() id.Event {
	return id.EventOf(fmt.Sprint("interrupted", r.Session, r.First, r.Began.UnixMicro()))
}

// Commit is what a turn writes at once.
type Commit struct {
	Events []Event // in order; the store sets Ord, Turn and Created
	Hide   []Span  // visible events that Events have summed up, hidden as Compacted
	// Artifacts are files that the events name; they are held. Where one is not held any more, or its id is taken by now, the
	// commit fails with ErrLost: whoever takes the turn over makes them again.
	Artifacts []artifact.Artifact
	Progress  *Progress
	Usage     *Usage
	Resolved  *tool.Kept        // see Run.Resolved
	Rendered  map[string]string // see Store.Reminders; nil: they stay as they are
	Park      *Park             // the turn waits for the client, unless an input waits already, or somebody has interrupted it
	Steer     bool              // take inputs that were sent to go on in this turn from the queue, behind Events
	End       *End
	Trace     *trace.Thread // see Run.Trace; nil: it stays as it is
	// Record returns the spans that end with the commit, of what it writes, without Committed.Spans; nil: none do. It is called with what is to
	// be expected, the events last in the log, and again with what was written if that has ended otherwise. The last time counts.
	Record func(*Committed) []trace.Span
}

// Span is a range of ords, both ends included.
type Span struct{ From, To int64 }

// Progress is where the turn stands from now on.
type Progress struct {
	Step        string
	Transitions int
	Calls       int
}

// End ends the turn. Where an input waits, the run goes on with it, in a turn of its own; one that was sent to steer goes on
// in this turn in place of its end, unless Stop is set.
type End struct {
	Step     string // that the next turn begins at
	Stop     bool   // the turn is over even if an input was sent to steer it
	Failed   bool   // the turn has failed: if nothing was ever written behind its input, the same input may be sent again
	TakeBack bool   // remove the input as if it had never been sent, if nothing was ever written behind it
	Cause    string // why it did not come to its end, as feed.Cause wrote it, in one line; "" if it did
	Failure  Failure
}

// Failure is why a turn has ended in error, as its trace has it. The zero Failure is none.
type Failure struct {
	Class trace.Class
	Text  string
}

// Committed is what a commit has written.
type Committed struct {
	Events      []Event // those of the commit, as stored
	Inputs      []Event // inputs that were taken from the queue, to steer or to begin the next turn
	Next        *Run    // the turn that follows; nil when the turn goes on or the run is over
	Ended       bool    // the turn is over, or parked
	Parked      bool    // the turn waits for the client; otherwise Commit.Park has come to nothing, and Events has the outputs of its calls if an input has superseded them
	Steers      bool    // inputs wait to steer this turn
	Edits       int64   // of the session: if it has changed, events were hidden, shown or deleted
	Interrupted bool
	Spans       []trace.Span
}

// ErrLost is the error of a commit whose lease another process holds, or whose session is gone.
var ErrLost = errors.New("the session is no longer this process's to work on")

// Log is the part of the store that turns are made with. The caller passes all instants but those of events.
type Log interface {
	// Accept writes an input: it is durable when Accept returns. Parts whose external ids the session has are left out, those
	// of inputs that wait included; an input without other parts adds nothing, also where it would be refused. l is the lease of
	// the run that begins if the session is idle. Faults: "session_not_found", "agent_not_found", fault.KindConflict where
	// session or agent are disabled, where the session is busy and the input must not wait, and where MaxQueued inputs wait; in.Full
	// where a turn would begin.
	Accept(ctx context.Context, in Input, l Lease, now time.Time) (Accepted, error)
	// Commit writes c if the lease holds, else ErrLost. The events are durable when it returns.
	Commit(ctx context.Context, l Lease, c Commit, now time.Time) (Committed, error)
	// Parked returns the turn that waits for the client, with the calls that are left; nil for none.
	Parked(ctx context.Context, session int64) (*Parked, error)
	// Answer writes outputs of calls that a parked turn waits for: they are durable when it returns. With the last one the turn goes
	// on, under the lease l. ErrAnswered if one of them doesn't wait any more; nothing is written then. Other faults are those of Accept.
	Answer(ctx context.Context, a Answers, l Lease, now time.Time) (Answered, error)
	// Resolved returns the text of Run.Resolved where it is a secret, for the turn that is in progress or parked; "" if it has none.
	Resolved(ctx context.Context, session int64) (string, error)
	// Interrupt asks the turn in progress to end and returns its run, nil if there is none. A parked one has ended when it returns, with
	// its calls superseded; its run has no node.
	Interrupt(ctx context.Context, session int64) (*Run, error)
	// Withdraw ends what an input has led to, and nothing else: one that waits is removed as if it had never been sent, a turn that answers
	// it ends as Interrupt ends it. It returns the run of that turn, nil for none.
	Withdraw(ctx context.Context, session int64, input id.Event) (*Run, error)
	// Interrupted returns the sessions among the runs of a process whose turn was asked to end.
	Interrupted(ctx context.Context, node string) ([]int64, error)
	// Renew extends the leases of a process.
	Renew(ctx context.Context, node string, until time.Time) error
	// Release ends the leases of a process, so that others claim its runs at their next look.
	Release(ctx context.Context, node string) error
	// Claim takes over up to limit runs whose lease has ended, or every run if all is set (the process is alone with the
	// database), and counts them as recovered unless their lease was released. lease returns a fresh lease of a session.
	Claim(ctx context.Context, now time.Time, all bool, limit int, lease func(session int64) Lease) ([]Run, error)
	// Standing returns where a session stands.
	Standing(ctx context.Context, session int64) (Standing, error)
	// Awaited reports whether an input is queued or its turn is in progress; "session_not_found" for a session that was deleted.
	Awaited(ctx context.Context, session int64, input id.Event) (bool, error)
}

// Standing is where a session stands.
type Standing struct {
	Last  int64 // ord of its last event; 0 for none
	Edits int64
	Run   *Run
	// Causes are those of the last turns that have one, see End, MaxQueued at most, oldest first: readers in other processes may look
	// only after several of the turns have ended that waited.
	Causes []string
}

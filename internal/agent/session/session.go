// Package session keeps the sessions of agents: each a log of events, a queue of inputs, and a lease by which one process at a
// time works on it. Events are committed before anybody sees them. The loop that works on a session is in agent/turn, those
// who read along are served by agent/session/feed; docs/design/agent-turn.md has the whole.
package session

import (
	"context"
	"encoding/json"
	"time"

	"quarry/internal/agent"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/page"
)

// Session is a conversation with an agent.
type Session struct {
	No          int64 // the store's row number; never shown
	Key         string
	AgentNo     int64
	AgentKey    string
	Name        string
	Description string // "" when there is none
	Describe    bool   // it was made without a description, which is still to be written
	Metadata    json.RawMessage
	Enabled     bool
	IdleMinutes int64    // deleted after so long without an event; 0 = never
	Secrets     []string // names of its secrets, sorted; Store.Secrets reads them
	Step        string   // that the next message begins at; "" = the agent's first
	Usage       *Usage   // nil before the first call of the model
	Measured    Measured // where Usage was taken
	Compaction  agent.Compaction
	Created     time.Time // microseconds, UTC, like Updated
	Updated     time.Time // the last change or event
	MadeBy      string    // who has opened it, as Caller.Name has it; "" where it is not known
	Origin      *Origin   // nil where no call of a tool has made it
	Started     bool      // it has had an input
	Running     bool      // a process works on it
}

// Origin is the call of a tool that has made a session. Whether a later call may go on with the session follows from it. The JSON
// names are those of the store.
type Origin struct {
	AgentNo   int64  `json:"agent_no"`
	Agent     string `json:"agent"` // key, like Session
	SessionNo int64  `json:"session_no"`
	Session   string `json:"session"`
	Kind      string `json:"kind"`           // how long the session is meant to be used, in the words of the tool
	Mark      string `json:"mark,omitempty"` // by which the same call finds the session again
}

// Place returns the place of s in a list by age, or by its last event or change.
func (s *Session) Place(byEvent bool) *page.Position {
	if byEvent {
		return page.At(s.Updated, s.Key)
	}
	return page.At(s.Created, s.Key)
}

// List selects the sessions of an agent.
type List struct {
	AgentNo int64
	ByEvent bool           // by Updated, not by Created
	Oldest  bool           // first
	After   *page.Position // the last one shown, nil for the first page
	Limit   int
	Match   func(*Session) bool // nil: every one
}

// MaxSecrets is how many secrets a session has at most.
const MaxSecrets = 100

// TooManySecrets returns the fault of a session with more than MaxSecrets.
func TooManySecrets() error {
	return fault.InvalidField("secrets", "a session has at most %d secrets", MaxSecrets)
}

// Change is a change of a session; what is absent stays.
type Change struct {
	Name        opt.Field[string]
	Description opt.Field[string]
	Metadata    opt.Field[json.RawMessage]
	Enabled     opt.Field[bool]
	IdleMinutes opt.Field[int64]
	Secrets     map[string]opt.Field[string] // null removes
}

// Page selects events, oldest first.
type Page struct {
	Session int64
	After   int64 // ord of the last one shown; 0 from the beginning
	Limit   int
	Hidden  bool // those that are hidden, too
}

// Copy is what a fork takes over of another session.
type Copy struct {
	Source   int64
	From, To int64   // ords of the visible events that are copied; To 0: to the last
	But      []int64 // ords among them that are left out
	Opens    *Event  // that the fork begins with, in the place and at the instant of an event before From; nil for none
	Step     bool    // take over the step that the next message begins at
}

// Store keeps sessions and their events for those who manage and read them. What does not exist is fault.KindNotFound
// "session_not_found" or "event_not_found".
type Store interface {
	// Create writes a session of s.AgentNo with the values of its secrets and returns it with No set. A taken key is
	// fault.KindConflict, an agent that was deleted meanwhile "agent_not_found".
	Create(ctx context.Context, s Session, secrets map[string]string) (Session, error)
	// Fork is Create, with what c copies into the session. "session_not_found" if its source was deleted.
	Fork(ctx context.Context, s Session, secrets map[string]string, c Copy) (Session, error)
	// Get returns a session of an agent.
	Get(ctx context.Context, agentNo int64, key string) (Session, error)
	// Load returns a session by its number, as a turn knows it.
	Load(ctx context.Context, no int64) (Session, error)
	// List returns up to l.Limit sessions and whether more follow.
	List(ctx context.Context, l List) (found []Session, more bool, err error)
	// Update changes a session and returns it.
	Update(ctx context.Context, no int64, c Change, at time.Time) (Session, error)
	// Describe sets the description of a session if it still waits for one, see Session.Describe. Nothing else changes.
	Describe(ctx context.Context, no int64, text string) error
	// Delete removes a session with all it has in one small transaction; rows that nobody reaches any more are swept later. A
	// run of it finds its lease lost.
	Delete(ctx context.Context, no int64) error
	// Secrets returns the values of the secrets of a session.
	Secrets(ctx context.Context, no int64) (map[string]string, error)
	// Reminders returns the texts of the reminders that were rendered for a session, by reminder.Reminder.Key. Turns write them
	// by Commit.Rendered, all at once.
	Reminders(ctx context.Context, no int64) (map[string]string, error)
	// Idle removes up to limit sessions whose time to idle has passed and that nobody works on, and returns their number.
	Idle(ctx context.Context, now time.Time, limit int) (removed int, err error)

	// Events returns up to p.Limit events and whether more follow.
	Events(ctx context.Context, p Page) (found []Event, more bool, err error)
	// Count returns the number of events, those that are hidden left out unless hidden is set.
	Count(ctx context.Context, no int64, hidden bool) (int, error)
	// Event returns an event.
	Event(ctx context.Context, no int64, e id.Event) (Event, error)
	// Call returns the call that an output answers.
	Call(ctx context.Context, no int64, output *Event) (Event, error)
	// DeleteEvent removes an event, with its external ids.
	DeleteEvent(ctx context.Context, no int64, e id.Event) error
	// Hide sets why an event is hidden, "" to show it, and returns it.
	Hide(ctx context.Context, no int64, e id.Event, why string) (Event, error)
	// Latest returns for each tool that has had an output the latest one that was no error and is not hidden, by the name that
	// the model sees.
	Latest(ctx context.Context, no int64) (map[string]json.RawMessage, error)
}

package agent

import (
	"context"
	"errors"
	"time"

	"quarry/internal/fault"
	"quarry/internal/page"
)

// List selects agents, newest first.
type List struct {
	All     bool           // every agent; otherwise those of Keys
	Keys    []string       // at most authz.MaxGrants
	Enabled *bool          // nil: enabled or not
	After   *page.Position // the last one shown, nil for the first page
	Limit   int
	Match   func(*Agent) bool // nil: every one
}

// Store keeps agents. An agent that does not exist, or was deleted, is fault.KindNotFound "agent_not_found".
type Store interface {
	// Create writes an agent and returns it with No and Revision set. A taken key is Taken. A version of
	// an instruction that is not there any more is instruction.ErrGone.
	Create(ctx context.Context, a Agent) (Agent, error)
	// Get returns an agent.
	Get(ctx context.Context, key string) (Agent, error)
	// List returns up to l.Limit agents and whether more follow.
	List(ctx context.Context, l List) (found []Agent, more bool, err error)
	// Replace writes a.Definition and a.Updated as the next configuration of the agent a.No and returns it so. ErrChanged if
	// a.Revision is not the current one any more, instruction.ErrGone as for Create where it was not named before.
	Replace(ctx context.Context, a Agent) (Agent, error)
	// Delete removes an agent in one small transaction. Its key is free when Delete returns, and what is granted on it counts no
	// more; its sessions and configurations, which nobody reaches then, are swept later. A turn finds its lease lost.
	Delete(ctx context.Context, no int64, at time.Time) error
	// Revision returns an agent with a configuration that a turn has begun with. One that is not current is there as long as
	// a run names it.
	Revision(ctx context.Context, no, revision int64) (Agent, error)
}

// ErrChanged is what stores return for a change of what has changed meanwhile.
var ErrChanged = errors.New("the agent was changed meanwhile")

// Missing returns the fault of an agent that does not exist.
func Missing(key string) error {
	return fault.NotFound("agent_not_found", key, "agent %s does not exist", key)
}

// taken is the code of Taken.
const taken = "agent_exists"

// Taken returns the fault of a key that another agent has.
func Taken(key string) error { return fault.Conflict(taken, "agent %s already exists", key) }

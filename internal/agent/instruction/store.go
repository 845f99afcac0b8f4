package instruction

import (
	"context"
	"errors"

	"quarry/internal/id"
	"quarry/internal/page"
)

// List selects instructions by their latest versions, newest instruction first.
type List struct {
	Enabled *bool          // nil: enabled or not
	After   *page.Position // the last one shown, nil for the first page
	Limit   int
	Match   func(*Instruction) bool // nil: every one
}

// Store keeps instructions. One that does not exist is Missing.
type Store interface {
	// Create writes the first version of an instruction and returns it with No, Version and Latest set.
	Create(ctx context.Context, in Instruction) (Instruction, error)
	// Get returns a version of an instruction, the latest for 0. One that is not there is NoVersion.
	Get(ctx context.Context, which id.Instruction, version int64) (Instruction, error)
	// List returns up to l.Limit instructions and whether more follow.
	List(ctx context.Context, l List) (found []Instruction, more bool, err error)
	// Add writes in.Text and in.Updated as the next version of the instruction in.No and returns it so. ErrChanged if in.Version
	// is not the latest any more.
	Add(ctx context.Context, in Instruction) (Instruction, error)
	// Delete removes an instruction with all versions, whoever refers to it.
	Delete(ctx context.Context, in Instruction) error
	// DeleteVersion removes a version. If it was the latest, the one before it is. ErrOnly if there is no other one, a *PinnedError
	// if agents have it in a step by its number.
	DeleteVersion(ctx context.Context, in Instruction, version int64) error
	// Refer returns what references name, for each instruction also its latest version.
	Refer(ctx context.Context, refs []Reference) (Found, error)
}

// ErrChanged is what stores return for a change of what has changed meanwhile.
var ErrChanged = errors.New("the instruction was changed meanwhile")

// ErrOnly is what stores return for the deletion of the only version.
var ErrOnly = errors.New("the instruction has no other version")

// ErrGone is what the store of agents returns for an agent that begins to name a version which was deleted meanwhile.
var ErrGone = errors.New("a version of an instruction was deleted meanwhile")

// PinnedError is what stores return for the deletion of a version that agents have in a step.
type PinnedError struct {
	Agents []string // keys of some of them
}

// Error returns a message for logs; clients are told by Service.DeleteVersion.
func (e *PinnedError) Error() string { return "agents pin the version" }

package configuration

import (
	"context"
	"errors"
	"fmt"

	"quarry/internal/page"
)

// Store keeps configurations. One that does not exist is Missing.
type Store interface {
	Finder
	// Create writes a configuration and returns it with No set; a key that another one has is Taken. A tool that its entry refers to
	// and that was deleted meanwhile is fault.KindConflict, as for Replace.
	Create(ctx context.Context, c Configuration) (Configuration, error)
	Get(ctx context.Context, key string) (Configuration, error)
	// List returns up to limit configurations that match, newest first, behind a place, and whether more follow.
	List(ctx context.Context, after *page.Position, limit int, match func(*Configuration) bool) (found []Configuration, more bool, err error)
	// Replace writes c as the next version of itself and returns it so. ErrChanged if c.Version is not the present one any more.
	Replace(ctx context.Context, c Configuration) (Configuration, error)
	// Delete removes a configuration. An *InUseError if agents refer to it.
	Delete(ctx context.Context, c Configuration) error
}

// Finder finds the configurations that agents refer to.
type Finder interface {
	// Find returns those of the keys that there are.
	Find(ctx context.Context, keys []string) ([]Configuration, error)
}

// ErrChanged is what stores return for a change of what has changed meanwhile.
var ErrChanged = errors.New("the configuration was changed meanwhile")

// InUseError is the error of the deletion of a configuration that agents refer to.
type InUseError struct {
	Agents []string // keys of some of them
}

// Error returns a message for logs; clients are told by Service.Delete.
func (e *InUseError) Error() string {
	return fmt.Sprintf("agents refer to the configuration: %v", e.Agents)
}

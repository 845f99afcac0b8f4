// Package claim decides between a turn that fails before anything was shown to the sender of its input, and the sender that shows
// something.
package claim

import (
	"sync"
	"sync/atomic"
)

// Claim decides between a turn that fails before anything was shown to its sender, and the sender that shows something.
type Claim struct {
	state atomic.Int32
	heard chan struct{} // closed by hear
	once  sync.Once
}

// What is decided.
const (
	open int32 = iota
	Shown
	Refused
)

// Hear is called when there is something of the turn to show, or never will be. A nil claim hears nothing.
func (c *Claim) Hear() {
	if c != nil {
		c.once.Do(func() { close(c.heard) })
	}
}

// Take reports whether the state is to, now.
func (c *Claim) Take(to int32) bool { return c.state.CompareAndSwap(open, to) || c.state.Load() == to }

// Undecided reports whether the turn may still be refused. A nil claim decides nothing.
func (c *Claim) Undecided() bool { return c != nil && c.state.Load() == open }

// New returns an open claim.
func New() *Claim { return &Claim{heard: make(chan struct{})} }

// Heard returns a channel that Hear closes.
func (c *Claim) Heard() <-chan struct{} { return c.heard }

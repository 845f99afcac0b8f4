// Package syntax reads the objects of PDF files (ISO 32000-1, chapter 7): tokens, objects, cross references, filters and
// encryption with the empty password. Objects are read when they are needed, and everything is charged to a Budget, which
// bounds the cost of a hostile file. Pages and text are the subject of packages pdf and pdf/font.
package syntax

import (
	"fmt"
	"time"

	"quarry/internal/extract/outline"
)

// Limits of one file. An upload has at most 10 MB.
const (
	MaxTime    = 20 * time.Second
	maxKept    = 256 << 20 // estimated bytes of objects and glyphs in memory
	maxDecoded = 768 << 20 // bytes of decoded streams in all, of which few are in memory at a time
	maxStream  = 64 << 20  // bytes of one decoded stream
	maxObjects = 100_000   // objects of a file
	maxNesting = 60        // nested arrays and dictionaries
)

// Budget bounds the time and memory for reading one file. Once it is used up, every loop of the reader ends and Err returns
// the reason. It is not safe for concurrent use.
type Budget struct {
	limit    time.Duration
	deadline time.Time
	kept     int64 // bytes, of maxKept
	decoded  int64 // bytes, of maxDecoded
	steps    int
	err      error
}

// NewBudget returns a budget whose time starts now.
func NewBudget(limit time.Duration) *Budget {
	return &Budget{limit: limit, deadline: time.Now().Add(limit)}
}

// Err returns the reason why the budget is used up, which wraps outline.ErrUnparsable, or nil if it is not.
func (b *Budget) Err() error { return b.err }

// Refuse uses up the budget for the given reason, unless it is used up already.
func (b *Budget) Refuse(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
	}
}

// Step counts a small step and reports whether the budget lasts. It reads the clock on every 512th call.
func (b *Budget) Step() bool {
	if b.steps++; b.steps%512 == 0 && time.Now().After(b.deadline) {
		b.Refuse("reading it takes longer than %s", b.limit)
	}
	return b.err == nil
}

// check is Step that reads the clock on every call, for use before a long step.
func (b *Budget) check() bool {
	b.steps |= 511
	return b.Step()
}

// Keep charges n bytes of memory and reports whether the budget lasts.
func (b *Budget) Keep(n int) bool {
	if b.kept += int64(n); b.kept > maxKept {
		b.Refuse("reading it takes more than %d MB of memory", maxKept>>20)
	}
	return b.err == nil
}

// decode charges n bytes of a decoded stream and reports whether the budget lasts.
func (b *Budget) decode(n int) bool {
	if b.decoded += int64(n); b.decoded > maxDecoded {
		b.Refuse("its streams decode to more than %d MB", maxDecoded>>20)
	}
	return b.err == nil
}

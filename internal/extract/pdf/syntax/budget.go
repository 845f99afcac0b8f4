// Package syntax reads the object layer of PDF files: tokens, objects, cross references, filters and encryption with the
// empty password. Everything it does is paid from a Budget, and nothing is read before it is asked for, so that a
// hostile file costs at most that.
//
// It knows nothing of pages and text; packages pdf and pdf/font do. A File is not for concurrent use.
package syntax

import (
	"fmt"
	"time"

	"quarry/internal/extract/outline"
)

// Limits of one file, which has at most 10 MB as an upload.
const (
	MaxTime    = 20 * time.Second
	maxKept    = 256 << 20 // bytes of objects and glyphs that are kept, as they are counted here
	maxDecoded = 768 << 20 // bytes that come out of filters in all; at most a few streams are held at once
	maxStream  = 64 << 20  // bytes that come out of one stream
	maxObjects = 100_000   // objects of a file
	maxNesting = 60        // arrays and dictionaries inside each other
)

// Budget is what reading one file may cost. When it is used up, every loop ends; Err then says why.
type Budget struct {
	limit    time.Duration
	deadline time.Time
	kept     int64
	decoded  int64
	steps    int
	err      error
}

// NewBudget gives the budget of a file whose reading begins now.
func NewBudget(limit time.Duration) *Budget {
	return &Budget{limit: limit, deadline: time.Now().Add(limit)}
}

// Err is nil as long as the budget lasts; it wraps outline.ErrUnparsable.
func (b *Budget) Err() error { return b.err }

// Refuse uses up the budget for a reason.
func (b *Budget) Refuse(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: %w", outline.ErrUnparsable, fmt.Errorf(format, args...))
	}
}

// Step counts one small step and reports whether the budget lasts. The clock is read now and then.
func (b *Budget) Step() bool {
	if b.steps++; b.steps%512 == 0 && time.Now().After(b.deadline) {
		b.Refuse("reading it takes longer than %s", b.limit)
	}
	return b.err == nil
}

// look is Step before work that takes long by itself.
func (b *Budget) look() bool {
	b.steps |= 511
	return b.Step()
}

// Keep pays for n bytes that stay.
func (b *Budget) Keep(n int) bool {
	if b.kept += int64(n); b.kept > maxKept {
		b.Refuse("reading it takes more than %d MB of memory", maxKept>>20)
	}
	return b.err == nil
}

func (b *Budget) decode(n int) bool {
	if b.decoded += int64(n); b.decoded > maxDecoded {
		b.Refuse("its streams unpack to more than %d MB", maxDecoded>>20)
	}
	return b.err == nil
}

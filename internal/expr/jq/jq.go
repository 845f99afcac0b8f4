// Package jq runs programs in the language jq that clients write, within limits.
package jq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// Bounds of a program.
const (
	maxLength  = 4096            // characters
	MaxTime    = 5 * time.Second // of one run
	MaxMemory  = 256 << 20       // bytes by which the memory in use may grow during a run
	maxNesting = 1000            // of the result
)

// The errors of programs that ask for too much.
var (
	ErrTime   = errors.New("time limit")
	ErrMemory = errors.New("memory limit")
)

// Program is a compiled program. It is safe for concurrent use.
type Program struct{ code *gojq.Code }

// Parse compiles a program. It has no environment, no files and no further inputs.
func Parse(text string) (*Program, error) { return ParseWith(text) }

// ParseWith compiles a program that reads variables, such as $session; Run takes their values in the same order.
func ParseWith(text string, variables ...string) (*Program, error) {
	if n := utf8.RuneCountInString(text); n > maxLength {
		return nil, fmt.Errorf("has %d characters, more than the %d that are allowed", n, maxLength)
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	if err := guard(query); err != nil {
		return nil, fmt.Errorf("is %w", err)
	}
	code, err := gojq.Compile(query, append(slices.Clone(guarded), gojq.WithVariables(variables))...)
	if err != nil {
		return nil, fmt.Errorf("is no jq program: %w", err)
	}
	return &Program{code}, nil
}

// Run returns the one value that the program makes of v, as JSON of at most most bytes. ErrTime and ErrMemory come when the step
// in progress is over. They are about the program alone: writing its result is bounded by most.
func (p *Program) Run(ctx context.Context, v any, most int, variables ...any) (json.RawMessage, error) {
	out, err := p.watched(ctx, v, variables)
	if err != nil {
		return nil, err
	}
	if measure(out, 0, most) < 0 {
		return nil, fmt.Errorf("its result has more than %d MiB of JSON or more than %d levels", most>>20, maxNesting)
	}
	return gojq.Marshal(out)
}

// watched runs the program within the limits of time and memory.
func (p *Program) watched(ctx context.Context, v any, variables []any) (any, error) {
	ctx, stop := limit(ctx, MaxMemory)
	defer stop()
	out, err := one(p.code.RunWithContext(ctx, v, variables...))
	return out, caused(ctx, err)
}

// All returns the values that the program makes of v, each as JSON, and whether there are more: those that have most bytes together.
// It may take memory bytes, garbage apart, up to MaxMemory with it. The errors are those of Run.
func (p *Program) All(ctx context.Context, v any, memory uint64, most int) (all []json.RawMessage, more bool, err error) {
	ctx, stop := limit(ctx, memory)
	defer stop()
	for run := p.code.RunWithContext(ctx, v); ; {
		out, ok := run.Next()
		if !ok {
			return all, false, nil
		}
		if err, failed := out.(error); failed {
			return nil, false, caused(ctx, err)
		}
		switch left := measure(out, 0, most); {
		case left < 0 && len(all) == 0:
			return nil, false, fmt.Errorf("its result has more than %d KiB of JSON or more than %d levels; select less", most>>10, maxNesting)
		case left < 0:
			return all, true, nil
		}
		raw, err := gojq.Marshal(out)
		if err != nil {
			return nil, false, err
		}
		all, most = append(all, raw), most-len(raw)-1
	}
}

// limit returns a context that ends with ErrTime or ErrMemory.
func limit(ctx context.Context, memory uint64) (limited context.Context, stop func()) {
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, ErrTime)
	ctx, done := limitMemory(ctx, memory)
	return ctx, func() { done(); cancel() }
}

// maxMessage bounds what a program says of an error, in bytes.
const maxMessage = 1000

// caused returns the error of a run with the limit that has ended it.
func caused(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if text := err.Error(); len(text) > maxMessage {
		return errors.New(strings.ToValidUTF8(text[:maxMessage], "") + "…")
	}
	return err
}

// one returns the only result of a run.
func one(all gojq.Iter) (any, error) {
	out, ok := all.Next()
	if !ok {
		return nil, errors.New("it has no result")
	}
	if err, failed := out.(error); failed {
		return nil, err
	}
	more, ok := all.Next()
	if err, failed := more.(error); failed {
		return nil, err
	}
	if ok {
		return nil, errors.New("it has more than one result; put them into a list")
	}
	return out, nil
}

// measure returns how many of left bytes remain behind the JSON of v, less than 0 if it has more or is nested too deeply. A
// value that occurs several times counts each time, as it is written.
func measure(v any, depth, left int) int {
	if depth > maxNesting {
		return -1
	}
	switch v := v.(type) {
	case string:
		left -= len(v) + 2
	case *big.Int:
		left -= v.BitLen()/4 + 1
	case []any:
		left -= 2
		for i := 0; i < len(v) && left >= 0; i++ {
			left = measure(v[i], depth+1, left-1)
		}
	case map[string]any:
		left -= 2
		for name, member := range v {
			if left = measure(member, depth+1, left-len(name)-4); left < 0 {
				break
			}
		}
	default:
		left--
	}
	return left
}

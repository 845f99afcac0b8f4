package usagetest

import (
	"context"
	"sync"
	"time"

	"quarry/internal/usage"
)

// Memory is a usage.Store in memory. The zero value is empty.
type Memory struct {
	mu    sync.Mutex
	sums  map[usage.Sum]usage.Tokens // by the sum without its tokens; guarded by mu
	fails error                      // of Add; guarded by mu
	reads int                        // guarded by mu
	adds  int                        // guarded by mu
}

var _ usage.Store = (*Memory)(nil)

// Add adds to the stored sums.
func (m *Memory) Add(_ context.Context, sums []usage.Sum) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.adds++
	if m.fails != nil {
		return m.fails
	}
	if m.sums == nil {
		m.sums = map[usage.Sum]usage.Tokens{}
	}
	for _, s := range sums {
		t := s.Tokens
		s.Tokens = usage.Tokens{}
		have := m.sums[s]
		m.sums[s] = usage.Tokens{Input: have.Input + t.Input, Output: have.Output + t.Output}
	}
	return nil
}

// Sums returns the sums of a scope in the windows that contain a moment.
func (m *Memory) Sums(_ context.Context, scope string, at time.Time) (out []usage.Sum, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	for _, span := range usage.Spans {
		begin, _ := span.Window(at)
		s := usage.Sum{Scope: scope, Span: span, Begin: begin}
		if t, ok := m.sums[s]; ok {
			s.Tokens = t
			out = append(out, s)
		}
	}
	return out, nil
}

// Forget removes the sums of windows of a span that began before a moment.
func (m *Memory) Forget(_ context.Context, s usage.Span, before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.sums {
		if k.Span == s && k.Begin.Before(before) {
			delete(m.sums, k)
		}
	}
	return nil
}

// Fail sets the error of Add from now on; nil ends that.
func (m *Memory) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

// Calls returns how often Add and Sums were called.
func (m *Memory) Calls() (adds, reads int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.adds, m.reads
}

// All returns every sum, in no order.
func (m *Memory) All() (out []usage.Sum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for s, t := range m.sums {
		s.Tokens = t
		out = append(out, s)
	}
	return out
}

// Package line lets calls that run at once do one thing in the order in which they were begun.
package line

import (
	"context"
	"slices"
	"sync"
)

// Line is the calls of one reply. The zero value is an empty one. Safe for concurrent use.
type Line struct {
	mu     sync.Mutex
	places []*Place // that were not left, in order; guarded by mu
}

// Place is the place of one call.
type Place struct {
	line  *Line
	first chan struct{} // closed when nobody stands before it
}

// Join returns the place behind all others. Whoever joins leaves.
func (l *Line) Join() *Place {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &Place{l, make(chan struct{})}
	if l.places = append(l.places, p); len(l.places) == 1 {
		close(p.first)
	}
	return p
}

// Do runs f when all that stand before have left, and leaves. A nil place stands alone.
func (p *Place) Do(ctx context.Context, f func() error) error {
	if p == nil {
		return f()
	}
	defer p.Leave()
	select {
	case <-p.first:
		return f()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Leave lets those behind move up. Further calls do nothing, nor do those of a nil place.
func (p *Place) Leave() {
	if p == nil {
		return
	}
	l := p.line
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.places, p)
	if i < 0 {
		return
	}
	l.places = slices.Delete(l.places, i, i+1)
	if i == 0 && len(l.places) > 0 {
		close(l.places[0].first)
	}
}

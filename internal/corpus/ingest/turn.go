package ingest

import (
	"context"
	"sync"
)

// place names a document that need not exist.
type place struct {
	corpusNo int64
	id       string
}

// turns lets one document at a time be made under an id. A client that waits no longer for a large one and sends it
// again would have it encoded as often, all at once; in turn, the second finds the first. Safe for concurrent use.
type turns struct {
	mu  sync.Mutex
	now map[place]chan struct{} // closed when the turn is over; guarded by mu
}

// take waits for the turn of p and gives the function that ends it.
func (t *turns) take(ctx context.Context, p place) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for before := t.now[p]; before != nil; before = t.now[p] {
		t.mu.Unlock()
		select {
		case <-before:
		case <-ctx.Done():
			err = ctx.Err()
		}
		t.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	mine := make(chan struct{})
	t.now[p] = mine
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.now, p)
		close(mine)
	}, nil
}

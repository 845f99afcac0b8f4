package ingest

import (
	"context"
	"sync"
)

// place identifies a document, existing or not.
type place struct {
	corpusNo int64
	id       string
}

// turns serialises the creation of documents with the same id. Clients that send
// the same large document at once would otherwise have it encoded several times; in turn, the second request finds the
// document of the first. Safe for concurrent use.
type turns struct {
	mu  sync.Mutex
	now map[place]chan struct{} // closed when the turn is over; guarded by mu
}

// take waits for the turn of p and returns a function that ends it.
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

package token

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// How often the keys are read: a key that another node has retired is forgotten after staleAfter at the latest. Unknown
// key ids, which anyone can send, cause at most one read per readEvery.
const (
	staleAfter  = time.Minute
	readEvery   = 100 * time.Millisecond
	readTimeout = 10 * time.Second
)

// ring is the public keys that this node knows.
type ring struct {
	store Store

	mu    sync.Mutex
	keys  map[string]known // guarded by mu
	begun time.Time        // of the last read, which may be under way; guarded by mu
	at    time.Time        // of the read that keys came from; guarded by mu
	next  *reading         // guarded by mu; nil when no read is under way or planned
}

type known struct {
	Key
	public *ecdsa.PublicKey
}

// reading is one read of all keys that requests wait for together.
type reading struct {
	done chan struct{}
	err  error // set before done is closed
}

func newRing(s Store) *ring { return &ring{store: s, keys: map[string]known{}} }

// find returns a published public key, ErrNoKey when there is none with this id. A key that this node does not know is
// looked up in the store by a read that begins after the call, as another node may have just added it.
func (r *ring) find(ctx context.Context, kid string) (*ecdsa.PublicKey, error) {
	asked := time.Now()
	for {
		r.mu.Lock()
		k, ok := r.keys[kid]
		fresh := !r.at.IsZero() && asked.Sub(r.at) < staleAfter
		sought := r.at.After(asked)
		r.mu.Unlock()
		switch {
		case ok && fresh && k.published(asked):
			return k.public, nil
		case sought || ok && fresh: // found, or known and no longer published
			return nil, ErrNoKey
		}
		if err := r.read(ctx); err != nil {
			return nil, err
		}
	}
}

// read waits for the read of all keys that is planned or under way, and plans one if there is none.
func (r *ring) read(ctx context.Context) error {
	r.mu.Lock()
	now := r.next
	if now == nil {
		now = &reading{done: make(chan struct{})}
		r.next = now
		go r.run(context.WithoutCancel(ctx), now, time.Until(r.begun.Add(readEvery)))
	}
	r.mu.Unlock()
	select {
	case <-now.done:
		return now.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run reads all keys after a pause. It always ends: the pause lasts at most readEvery, the read at most readTimeout.
func (r *ring) run(ctx context.Context, now *reading, pause time.Duration) {
	if pause > 0 {
		time.Sleep(pause)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	begun := time.Now()
	keys, err := r.load(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun, r.next, now.err = begun, nil, err
	if err == nil {
		r.keys, r.at = keys, begun
	}
	close(now.done)
}

func (r *ring) load(ctx context.Context) (map[string]known, error) {
	all, err := r.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]known, len(all))
	for _, k := range all {
		var web jose.JSONWebKey
		if err := web.UnmarshalJSON(k.Public); err != nil {
			return nil, fmt.Errorf("read public key %s: %w", k.ID, err)
		}
		public, ok := web.Key.(*ecdsa.PublicKey)
		if !ok || web.KeyID != k.ID {
			return nil, fmt.Errorf("read public key %s: it is another kind of key", k.ID)
		}
		keys[k.ID] = known{k, public}
	}
	return keys, nil
}

// forget discards the keys, so that the next look-up reads them.
func (r *ring) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = time.Time{}
}

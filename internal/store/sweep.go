package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"quarry/internal/room"
)

// Sweeper removes rows of one aggregate that nobody can reach any more, such as the documents of a deleted corpus.
// What is left to do must be found in the tables, not in memory: then nothing is forgotten when a sweep fails or the
// process ends, and sweeps of several goroutines and nodes at once can share the work.
type Sweeper interface {
	// Sweep takes one step, small enough that other writes wait some ten milliseconds at most. more is false when it
	// found nothing to remove.
	Sweep(tx *Tx) (more bool, err error)
}

// sweepRetry is the pause after a sweep that failed, for instance on a full disk.
const sweepRetry = time.Minute

// WakeSweeper schedules a sweep; a store calls it after a commit that leaves something to remove.
func (db *DB) WakeSweeper() {
	select {
	case db.wake <- struct{}{}:
	default: // one is scheduled already, and it has not begun
	}
}

// alarm is the one timer that sweeps of later share: after a first pause it rings at most once in the pause that follows.
type alarm struct {
	mu     sync.Mutex
	set    bool      // a timer runs; guarded by mu
	latest time.Time // when it must have rung; guarded by mu
}

// WakeSweeperIn schedules a sweep for when a pause is over.
func (db *DB) WakeSweeperIn(pause time.Duration) {
	a := &db.alarm
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latest = time.Now().Add(pause)
	if !a.set {
		a.set = true
		time.AfterFunc(pause, db.ring)
	}
}

func (db *DB) ring() {
	a := &db.alarm
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := time.Until(a.latest)
	if a.set = rest > 0; a.set {
		time.AfterFunc(rest, db.ring)
	}
	db.WakeSweeper()
}

func (db *DB) sweepLoop(ctx context.Context) {
	var again <-chan time.Time // nil, which never fires, unless the last sweep failed
	for {
		select {
		case <-db.wake:
		case <-again:
		case <-ctx.Done():
			return
		}
		again = nil
		if err := db.Sweep(ctx); err != nil && ctx.Err() == nil {
			again = time.After(sweepRetry)
		}
	}
}

// Sweep runs every sweeper until it finds nothing to remove, one transaction per step. The database does so by itself
// after a start and after WakeSweeper. When Sweep returns nil, all that was left before the call is removed, whoever
// else was sweeping meanwhile.
func (db *DB) Sweep(ctx context.Context) error {
	ctx = room.Freeing(ctx)
	var failed []error // a sweeper that fails does not keep the next ones from their work
	for _, s := range db.sweepers {
		for more := true; more; {
			err := db.Write(ctx, func(tx *Tx) (err error) {
				more, err = s.Sweep(tx)
				return err
			})
			if err != nil {
				failed = append(failed, fmt.Errorf("sweep: %w", err))
				break
			}
		}
	}
	return errors.Join(failed...)
}

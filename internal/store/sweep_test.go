package store_test

import (
	"testing"
	"time"

	"quarry/internal/store"
)

// bell reports every sweep.
type bell chan struct{}

func (b bell) Sweep(*store.Tx) (more bool, err error) {
	b <- struct{}{}
	return false, nil
}

// TestWakeSweeperIn proves that a sweep that was scheduled for later takes place, one that is scheduled while the first is
// awaited does, too, and one after both; and that many at once share a few sweeps.
func TestWakeSweeperIn(t *testing.T) {
	t.Parallel()
	rung := make(bell)
	db, err := store.Open(t.Context(), store.Config{Dir: t.TempDir(), Sweepers: []store.Sweeper{rung}})
	if err != nil {
		t.Fatal(err)
	}
	<-rung // of the start
	for range 3 {
		for range 1000 {
			db.WakeSweeperIn(time.Millisecond)
		}
		<-rung
	}
	go func() { // those that are still due
		for range rung {
		}
	}()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	close(rung)
}

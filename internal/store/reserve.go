package store

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"sync"
	"sync/atomic"

	"quarry/internal/fault"
	"quarry/internal/room"
)

const (
	reserveName = "quarry.reserve"
	// reserveSize is what the log of the database takes for some ten deletions, and for its index at a start.
	reserveSize = 1 << 20
	// startReserve is the part of it that only a start may use: twice the log's index, without which no database opens.
	startReserve = 64 << 10
)

// reserve is a file that keeps room on the disk of the data folder. When the disk is full, it is cut short, and what it
// held is left to opening the database and to deletions, until it can be written whole again.
type reserve struct {
	path string
	tell func(full bool) // of a disk that becomes full, and of one that is so no more
	full atomic.Bool     // the file was cut short for it

	// freeing is held for reading by what frees space, and for writing by attempts to write the file whole: those take all the
	// room that is left, for a moment.
	freeing sync.RWMutex

	mu   sync.Mutex   // held while the file is written or cut short; taken after freeing
	cuts atomic.Int64 // how often it was cut short
}

// open writes the file where it is missing or was cut short. A disk without room for it counts as full, but for a
// database that is not set up yet, which may be on a very small one.
func (r *reserve) open(setUp bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full.Load() && !r.grow(reserveSize) && setUp {
		r.full.Store(true)
		r.tell(true)
	}
}

// close writes as much of the file as there is room for: the next start may find the disk full.
func (r *reserve) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for size := int64(reserveSize); size >= startReserve/2 && !r.grow(size); size /= 2 {
	}
}

// give cuts the file short, as the disk is full, and reports whether that made room.
func (r *reserve) give(to int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full.Swap(true) {
		r.tell(true)
	}
	if r.size() <= to || os.Truncate(r.path, to) != nil {
		return false
	}
	r.cuts.Add(1)
	return true
}

// fullFolder returns the fault of a write while the disk is full.
func fullFolder() *fault.Fault {
	return unavailable("the disk of the data folder is full, so nothing new is written; free some space, writes then go on by themselves. " +
		"Reading goes on, and deleting as far as there is room").Because(ErrFull)
}

// refuse returns the fault of a write while the disk is full, nil for one that frees space and when there is room again.
func (r *reserve) refuse(ctx context.Context) error {
	if !r.full.Load() || room.Frees(ctx) {
		return nil
	}
	r.freeing.Lock()
	defer r.freeing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full.Load() {
		if !r.grow(reserveSize) {
			return fullFolder()
		}
		r.full.Store(false)
		r.tell(false)
	}
	return nil
}

// free runs a write that frees space, and once more when it has met the disk full and there is more room than it had.
func (r *reserve) free(write func() error) error {
	r.freeing.RLock()
	defer r.freeing.RUnlock()
	cuts := r.cuts.Load()
	err := write()
	if r.relieved(err, cuts) {
		err = write()
	}
	return err
}

// met reports whether err means that the disk is full and cutting the file short has made room.
func (r *reserve) met(err error, to int64) bool { return isFull(err) && r.give(to) }

// relieved reports whether err means that the disk is full and there is more room than a write had: it has met the disk full by itself, or
// others that met it at the same time have cut the file short since there were so many cuts.
func (r *reserve) relieved(err error, cuts int64) bool {
	return isFull(err) && (r.give(startReserve) || r.cuts.Load() > cuts)
}

func (r *reserve) size() int64 {
	info, err := os.Stat(r.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// grow writes the file until it is that long and reports whether there was room; if not, it stays as long as it was. What it
// holds can't be compressed.
func (r *reserve) grow(to int64) bool {
	had := r.size()
	if had >= to {
		return true
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return false
	}
	content := make([]byte, to-had)
	_, _ = rand.Read(content) // never fails since Go 1.24
	_, err = f.WriteAt(content, had)
	if err != nil {
		_ = f.Truncate(had) // takes no room
	}
	return errors.Join(err, f.Close()) == nil
}

// isFull reports whether err means that a disk is full.
func isFull(err error) bool {
	return err != nil && (errors.Is(err, ErrFull) || errors.Is(reasonOf(err), ErrFull))
}

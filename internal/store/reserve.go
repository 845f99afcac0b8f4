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
	// leastReserve is the size of the log's index, without which the database can't be opened.
	leastReserve = 32 << 10
)

// reserve is a file that keeps room on the disk of the data folder. When the disk is full, it is removed, and what it
// held is left to opening the database and to deletions, until the file can be written again.
type reserve struct {
	path string
	tell func(full bool) // of a disk that becomes full, and of one that is so no more
	full atomic.Bool     // the file was given up

	mu sync.Mutex // held while the file is written or removed
}

// open writes the file where it is missing or was cut short. A disk without room for it counts as full, but for a
// database that is not set up yet, which may be on a very small one.
func (r *reserve) open(setUp bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full.Load() && !r.whole() && !r.write(reserveSize) && setUp {
		r.full.Store(true)
		r.tell(true)
	}
}

// close writes as much of the file as fits: the next start may find the disk full.
func (r *reserve) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for size := reserveSize; size >= leastReserve && !r.whole() && !r.write(size); size /= 2 {
	}
}

// give removes the file, as the disk is full, and reports whether that made room.
func (r *reserve) give() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	removed := os.Remove(r.path) == nil
	if !r.full.Swap(true) {
		r.tell(true)
	}
	return removed
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
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full.Load() {
		if !r.write(reserveSize) {
			return fullFolder()
		}
		r.full.Store(false)
		r.tell(false)
	}
	return nil
}

// met reports whether err means that the disk is full and giving the file up has made room.
func (r *reserve) met(err error) bool { return isFull(err) && r.give() }

func (r *reserve) there() bool {
	_, err := os.Stat(r.path)
	return err == nil
}

func (r *reserve) whole() bool {
	info, err := os.Stat(r.path)
	return err == nil && info.Size() == reserveSize
}

// write writes the file and reports whether there was room for it. What it holds can't be compressed.
func (r *reserve) write(size int) bool {
	content := make([]byte, size)
	_, _ = rand.Read(content) // never fails since Go 1.24
	if err := os.WriteFile(r.path, content, 0o600); err != nil {
		_ = os.Remove(r.path)
		return false
	}
	return true
}

// isFull reports whether err means that a disk is full.
func isFull(err error) bool { return errors.Is(err, ErrFull) || errors.Is(reasonOf(err), ErrFull) }

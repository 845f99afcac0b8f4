// Package file keeps blobs as files of the data folder, each under its SHA-256. One process at a time works with a folder. A
// file is synced before a row names it, and its row is removed before it is; what a kill leaves between the two is removed by
// the next start.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/room"
)

// Store is a blob.Store over a folder.
type Store struct {
	dir  string
	rows blob.Rows
	// places guard what stands between a file and its row: putting one in place and removing one follow one another.
	places [64]sync.Mutex
	walked atomic.Bool // files that an earlier process has left without a row are gone
}

var _ blob.Store = (*Store)(nil)

// unfinished is the folder of the files that are being written.
const unfinished = "unfinished"

// Open returns a store in dir, which is made if it is missing. What an earlier process was writing is removed.
func Open(ctx context.Context, dir string, rows blob.Rows) (*Store, error) {
	drafts := filepath.Join(dir, unfinished)
	if err := os.RemoveAll(drafts); err != nil {
		return nil, fmt.Errorf("clear the folder of files: %w", err)
	}
	if err := os.MkdirAll(drafts, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of files: %w", err)
	}
	return &Store{dir: dir, rows: rows}, rows.Reset(room.Freeing(ctx))
}

// folder returns the folder of a content, and path its file.
func (s *Store) folder(sum string) string { return filepath.Join(s.dir, sum[:2]) }
func (s *Store) path(sum string) string   { return filepath.Join(s.folder(sum), sum) }

// lock returns the mutex of a content, locked.
func (s *Store) lock(sum string) *sync.Mutex {
	var n int
	_, _ = fmt.Sscanf(sum[:2], "%x", &n) // hex digits, as all names are
	m := &s.places[n%len(s.places)]
	m.Lock()
	return m
}

// Put writes a content. See blob.Store.
func (s *Store) Put(ctx context.Context, r io.Reader, limit int64) (blob.Blob, error) {
	draft, err := os.CreateTemp(filepath.Join(s.dir, unfinished), "")
	if err != nil {
		return blob.Blob{}, failure(err, "begin a file")
	}
	defer func() { _ = os.Remove(draft.Name()) }() // it isn't there any more when all went well
	b, err := write(draft, r, limit)
	if err := errors.Join(err, draft.Close()); err != nil {
		return blob.Blob{}, failure(err, "write a file")
	}
	defer s.lock(b.Sum).Unlock()
	err = s.place(draft.Name(), b)
	if err == nil {
		err = s.rows.Hold(ctx, b, clock.Now())
	}
	if err != nil {
		return blob.Blob{}, failure(errors.Join(err, s.tidy(ctx, b.Sum)), "keep a file")
	}
	return b, nil
}

// bufferSize is how much is written at once.
const bufferSize = 256 << 10

// write copies r into the draft and syncs it.
func write(draft *os.File, r io.Reader, limit int64) (blob.Blob, error) {
	named := blob.NewReader(r, limit)
	if _, err := io.CopyBuffer(struct{ io.Writer }{draft}, named, make([]byte, bufferSize)); err != nil {
		return blob.Blob{}, err
	}
	return named.Blob(), draft.Sync()
}

// place moves a draft to where its content belongs. One that is there has the same content, or is damaged.
func (s *Store) place(draft string, b blob.Blob) error {
	dir := s.folder(b.Sum)
	switch err := os.Mkdir(dir, 0o700); {
	case err == nil:
		if err := syncDir(s.dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if err := os.Rename(draft, s.path(b.Sum)); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir syncs a folder, which is what renames in it need to be durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// tidy removes a file that has no row. The caller holds its lock.
func (s *Store) tidy(ctx context.Context, sum string) error {
	known, err := s.rows.Known(context.WithoutCancel(ctx), []string{sum})
	if err != nil || known[sum] {
		return err // without an answer it stays until the next start
	}
	return s.remove(sum)
}

// remove removes a file.
func (s *Store) remove(sum string) error {
	err := os.Remove(s.path(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Release ends a hold. See blob.Store.
func (s *Store) Release(ctx context.Context, b blob.Blob) error {
	return s.rows.Release(room.Freeing(ctx), b.Sum, clock.Now())
}

// Open opens a content. See blob.Store.
func (s *Store) Open(_ context.Context, b blob.Blob) (*blob.Content, error) {
	if !blob.Valid(b.Sum) {
		return nil, blob.ErrMissing
	}
	f, err := os.Open(s.path(b.Sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, blob.ErrMissing
	}
	if err != nil {
		return nil, failure(err, "open a file")
	}
	info, err := f.Stat()
	if err != nil || info.Size() != b.Size {
		return nil, errors.Join(blob.ErrDamaged, err, f.Close())
	}
	return blob.NewContent(f, f, b)
}

// sweepStep is how many contents are looked at at once.
const sweepStep = 200

// Sweep removes what nobody needs. See blob.Store.
func (s *Store) Sweep(ctx context.Context, _ time.Time) (removed int, err error) {
	ctx = room.Freeing(ctx)
	if !s.walked.Load() {
		if removed, err = s.walk(ctx); err != nil {
			return removed, err
		}
		s.walked.Store(true)
	}
	for {
		sums, err := s.rows.Unused(ctx, sweepStep)
		if err != nil {
			return removed, err
		}
		did := 0
		for _, sum := range sums {
			gone, err := s.drop(ctx, sum)
			if err != nil {
				return removed + did, err
			}
			if gone {
				did++
			}
		}
		if removed += did; did == 0 || len(sums) < sweepStep {
			return removed, nil
		}
	}
}

// drop removes a content that nobody needs, its row first.
func (s *Store) drop(ctx context.Context, sum string) (gone bool, err error) {
	defer s.lock(sum).Unlock()
	if gone, err = s.rows.Drop(ctx, sum); err != nil || !gone {
		return false, err
	}
	return true, failure(s.remove(sum), "remove a file")
}

// walk removes the files that have no row.
func (s *Store) walk(ctx context.Context) (removed int, err error) {
	var sums []string
	err = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == unfinished:
			return fs.SkipDir
		case d.Type().IsRegular() && blob.Valid(d.Name()):
			sums = append(sums, d.Name())
		}
		if len(sums) < sweepStep {
			return nil
		}
		n, err := s.unknown(ctx, sums)
		removed, sums = removed+n, sums[:0]
		return err
	})
	if err != nil {
		return removed, failure(err, "look for files without a row")
	}
	n, err := s.unknown(ctx, sums)
	return removed + n, err
}

// unknown removes those files that have no row.
func (s *Store) unknown(ctx context.Context, sums []string) (removed int, err error) {
	known, err := s.rows.Known(ctx, sums)
	if err != nil {
		return 0, err
	}
	for _, sum := range sums {
		if known[sum] {
			continue
		}
		m := s.lock(sum) // somebody may put it at this moment
		err := s.tidy(ctx, sum)
		m.Unlock()
		if err != nil {
			return removed, failure(err, "remove a file")
		}
		removed++
	}
	return removed, nil
}

// failure returns what happened to a file: a disk that is full is a fault, and so are those of whoever sent the content.
func failure(err error, doing string) error {
	if _, expected := fault.As(err); expected || err == nil || errors.Is(err, blob.ErrTooLarge) {
		return err
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fault.Unavailable("storage_unavailable", "the disk of the data folder is full, so the file was not kept; free some space and send it again").
			After(fullRetry).Because(err)
	case errors.Is(err, syscall.EFBIG):
		return fault.Unavailable("storage_unavailable", "the service may not write a file of this size, so it was not kept; raise the limit of its process "+
			"or of the disk of the data folder, and send it again").After(fullRetry).Because(err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// fullRetry is how long a client should wait while the disk is full.
const fullRetry = 5 * time.Second

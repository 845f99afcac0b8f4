package artifact

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"quarry/internal/blob"
	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/page"
	"quarry/internal/room"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	Blobs blob.Store
	Most  int64 // bytes of a file
	Log   *slog.Logger
}

// Service reads files of sessions and takes the bytes of new ones. Safe for concurrent use.
type Service struct {
	Config
	wake chan struct{} // holds one element while a sweep is to be made
}

// NewService returns a service.
func NewService(c Config) *Service { return &Service{c, make(chan struct{}, 1)} }

// Find returns a page of the files of a session and where the next one begins, nil on the last page.
func (s *Service) Find(ctx context.Context, l List) (found []Artifact, next *page.Position, err error) {
	found, more, err := s.Store.Artifacts(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	if more {
		next = found[len(found)-1].Place(l.ByChange)
	}
	return found, next, nil
}

// Get returns a file of a session.
func (s *Service) Get(ctx context.Context, session int64, id string) (Artifact, error) {
	return s.Store.Artifact(ctx, session, id)
}

// Open opens the bytes of a file, all of which were checked. The caller closes them.
func (s *Service) Open(ctx context.Context, a *Artifact) (*blob.Content, error) {
	content, err := s.Blobs.Open(ctx, a.Blob())
	switch {
	case errors.Is(err, blob.ErrDamaged), errors.Is(err, blob.ErrMissing):
		s.Log.Error("a file of a session can't be read", "artifact", a.ID, "checksum", a.Sum, "error", err)
		return nil, fault.Damaged("artifact_damaged", "the file %s (%s) is damaged where the service keeps it, so it can't be read; restore the data "+
			"folder or the database from a backup", a.ID, a.Filename).Because(err)
	case err != nil:
		return nil, err
	}
	return content, nil
}

// ErrTooLarge is the error of a file with more bytes than Config.Most.
var ErrTooLarge = blob.ErrTooLarge

// Put keeps the bytes of r and returns the file that they are, without an id. It is held until Release: whoever calls Put writes
// the row of the file, then calls Release, also where there is no row to write. A file that is too large is ErrTooLarge.
func (s *Service) Put(ctx context.Context, n New, r io.Reader) (Artifact, error) {
	b, err := s.Blobs.Put(ctx, r, s.Most)
	if err != nil {
		return Artifact{}, err
	}
	now := clock.Now()
	a := Artifact{
		Filename: Clean(n.Filename), Size: b.Size, Sum: b.Sum, Description: n.Description, Metadata: n.Metadata, TTLDays: n.TTLDays,
		Created: now, Updated: now,
	}
	a.MIME = TypeOf(a.Filename, n.MIME)
	if a.TTLDays == 0 {
		a.TTLDays = DefaultTTL
	}
	return a, nil
}

// Release ends the holds of files that were put, whether ctx has ended or not.
func (s *Service) Release(ctx context.Context, files ...Artifact) {
	ctx = room.Freeing(context.WithoutCancel(ctx))
	for i := range files {
		if err := s.Blobs.Release(ctx, files[i].Blob()); err != nil {
			s.Log.Warn("a file that may not be needed stays for now", "checksum", files[i].Sum, "error", err)
		}
	}
	if len(files) > 0 {
		select {
		case s.wake <- struct{}{}:
		default: // one is to be made, and it has not begun
		}
	}
}

const (
	sweepEvery = 20 * time.Second
	expireStep = 100
)

// Run removes files whose time has passed, and bytes that no file has any more, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := s.Sweep(ctx, clock.Now()); err != nil && ctx.Err() == nil {
			s.Log.Warn("files that nobody needs stay for now", "error", err)
		}
		select {
		case <-tick.C:
		case <-s.wake:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep removes the files whose time has passed by now, and the bytes that no file has any more.
func (s *Service) Sweep(ctx context.Context, now time.Time) error {
	ctx = room.Freeing(ctx)
	for {
		n, err := s.Store.Expire(ctx, now, expireStep)
		if err != nil {
			return err
		}
		if n < expireStep {
			break
		}
	}
	_, err := s.Blobs.Sweep(ctx, now)
	return err
}

package folder

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"quarry/internal/folder/source"
)

// Times of a watch.
const (
	quiet = 300 * time.Millisecond // without a change, before a pass
	most  = 3 * time.Second        // after the first change, though others follow
	poll  = 5 * time.Second        // between passes where the system reports no changes
	retry = 30 * time.Second       // after a pass that failed
)

// Hooks are what a watch reports.
type Hooks struct {
	Before func()                           // before a pass
	After  func(r *Result, err error) error // after it; its error ends the watch
	Note   func(string)                     // something that the user should know
}

// Watch runs a pass whenever files have changed, until ctx ends. Where the system does not report changes it looks by itself
// from time to time.
func (s *Sync) Watch(ctx context.Context, h Hooks) error {
	w, err := fsnotify.NewWatcher()
	if err == nil {
		defer w.Close()
		if err = s.observe(w); err != nil {
			_ = w.Close()
			w = nil
		}
	}
	if err != nil {
		h.Note("changes are looked for every " + poll.String() + ", since the system does not report them: " + err.Error())
	}
	next := time.Duration(0) // what changed since the last pass is not lost
	for {
		if err := settle(ctx, w, next); err != nil {
			return err
		}
		if w != nil {
			if err := s.observe(w); err != nil {
				h.Note("changes are looked for every " + poll.String() + " from now on: " + err.Error())
				_ = w.Close()
				w = nil
			}
		}
		h.Before()
		r, err := s.Pass(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		next = -1
		if err != nil {
			next = retry
		} else if w == nil {
			next = poll
		}
		if err := h.After(&r, err); err != nil {
			return err
		}
	}
}

// observe has changes in all folders of the roots reported, also in those that are new.
func (s *Sync) observe(w *fsnotify.Watcher) error {
	for _, root := range s.cfg.Roots {
		if root.Kind != source.Folder && root.Kind != source.Glob {
			if err := w.Add(filepath.Dir(root.Path)); err != nil {
				return err
			}
			continue
		}
		err := filepath.WalkDir(root.Path, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
				return nil // gone by now, or not to be read: the pass says so
			case err != nil:
				return err
			case !d.IsDir():
				return nil
			case strings.HasPrefix(d.Name(), ".") && path != root.Path:
				return filepath.SkipDir
			}
			if err := w.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settle returns when files have changed and changed no more for a moment, or when after is over; a negative one never is.
func settle(ctx context.Context, w *fsnotify.Watcher, after time.Duration) error {
	var timer, limit <-chan time.Time
	if after >= 0 {
		timer = time.After(after)
	}
	var events chan fsnotify.Event
	var failures chan error
	if w != nil {
		events, failures = w.Events, w.Errors
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events:
			if e.Op == fsnotify.Chmod {
				continue // reading a file can be reported so; what matters comes with a change of its content
			}
		case <-failures: // an overflow: something has changed
		case <-timer:
			return nil
		case <-limit:
			return nil
		}
		timer = time.After(quiet)
		if limit == nil {
			limit = time.After(most)
		}
	}
}

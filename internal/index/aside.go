package index

import (
	"errors"
	"fmt"

	"quarry/internal/index/merge"
	"quarry/internal/search"
)

// errUnsaved marks errors of saving beside writers.
var errUnsaved = errors.New("changes could not be saved")

// aside reports whether somebody saves beside writers: whoever runs the merges.
func (x *Index) aside() bool { return x.task != nil || x.disk.aside }

// file puts what the present state has in memory alone on its way to files. A write waits for the sealing of new rows and no
// more, where somebody saves beside it: what has changed of other segments may be of any size.
func (x *Index) file(d *draft) error {
	if !x.aside() {
		return x.save()
	}
	if !x.disk.saving {
		x.disk.behind.Store(true)
	}
	if !x.disk.when.Due(d.NewRows()) {
		return nil
	}
	return x.sealNew()
}

// sealNew writes the rows in memory to a file, which no manifest lists yet, and shows them from there.
func (x *Index) sealNew() error {
	d, err := x.draft()
	if err != nil {
		return err
	}
	if err := x.seal(d); err != nil {
		x.drop(d)
		return err
	}
	x.publish(d)
	x.disk.when.Saved()
	return nil
}

// saving is a state that is being saved beside writers.
type saving struct {
	x    *Index
	st   *state // held
	base *state // what files hold
	job  *merge.Saving
}

// saveAside brings files up to the present state. Writers wait for the sealing of new rows, and then for a manifest.
func (x *Index) saveAside(pause func() error) error {
	s, err := x.beginSaving(pause)
	if s != nil {
		defer x.release(s.st)
		listed := false
		if err = s.job.Write(); err == nil {
			listed, err = s.adopt()
		}
		if !listed {
			s.job.Discard()
		}
		err = s.end(listed, err)
	}
	if err != nil {
		x.disk.behind.Store(true)
		return fmt.Errorf("%w: %w", errUnsaved, err)
	}
	return nil
}

// beginSaving returns the saving of the present state; nil when there is nothing to save now.
func (x *Index) beginSaving(pause func() error) (s *saving, err error) {
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	x.disk.behind.Store(false)
	d, err := x.draft()
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, search.ErrSchema), errors.Is(err, errPartial):
		return nil, nil
	case err == nil && len(d.InMemory()) > 0:
		err = x.sealNew()
	}
	if err != nil {
		return nil, err
	}
	to := x.folder()
	to.Files.Pause = pause
	x.disk.saving = true
	st := x.hold(x.cur)
	return &saving{x, st, x.disk.saved, merge.NewSaving(to, st.views)}, nil
}

// adopt puts the files in the place of those of the index: in a manifest, and for searches. They are listed once a manifest may name them.
// Where the writer itself has saved meanwhile, that is newer.
func (s *saving) adopt() (listed bool, err error) {
	x := s.x
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draftAnyway()
	if err == nil && d.Partial {
		err = errPartial
	}
	if err != nil || x.disk.saved != s.base {
		return false, err
	}
	if err := x.list(s.st.of, s.st.seq, s.job.Out); err != nil {
		return true, err
	}
	d.Views = s.job.Carried(d.Views)
	x.publish(d)
	x.pin(x.held(newState(s.st.of, s.st.seq, s.job.Out)))
	x.disk.when.Saved()
	if x.disk.due(d) {
		x.disk.behind.Store(true)
	}
	return true, x.sweep(append(d.Views, s.job.Out...))
}

// end ends the saving, and returns its error unless the writer has saved instead.
func (s *saving) end(listed bool, err error) error {
	s.x.write.Lock()
	defer s.x.write.Unlock()
	s.x.disk.saving = false
	overtaken := !listed && s.x.disk.saved != s.base && !errors.Is(err, search.ErrCorrupt)
	if overtaken || errors.Is(err, errPartial) || errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}

package index

import (
	"context"
	"errors"
	"time"

	"quarry/internal/index/compact"
	"quarry/internal/index/manifest"
	"quarry/internal/index/merge"
	"quarry/internal/search"
)

// Merge does one thing of what is due: it merges some segments into one, or saves what must be in files before; done is
// false when nothing is due. rest is whether nothing was written for a while. pause is called between blocks of the work and
// may be nil; an error of it ends the merge. After an error nothing has changed.
//
// A merge reads, builds and writes without keeping writers waiting: they wait for its last step alone, which writes the
// manifest.
func (x *Index) Merge(pause func() error, rest bool) (done bool, err error) {
	if pause == nil {
		pause = func() error { return nil }
	}
	if x.disk.behind.Load() {
		return true, x.saveAside(pause)
	}
	m, done, err := x.beginMerge(x.savingIn(pause), rest)
	if m == nil {
		return done, err
	}
	x.merging.Store(true)
	defer x.merging.Store(false)
	defer m.end()
	err = m.job.Build()
	for err == nil && !done {
		if done, err = m.adopt(); err == nil && !done && x.disk.behind.Load() {
			err = x.saveAside(pause)
		}
		if err == nil && !done {
			err = m.follow()
		}
	}
	if err != nil && (errors.Is(err, errPartial) || m.overtaken()) {
		return true, nil // its file may have gone with those that it was made of
	}
	return done, err
}

// savingIn returns pause with what is to be saved before it: a merge may take long.
func (x *Index) savingIn(pause func() error) func() error {
	return func() error {
		if x.disk.behind.Load() {
			if err := x.saveAside(pause); err != nil {
				return err
			}
		}
		return pause()
	}
}

// errOvertaken is the error of a merge whose segments are all gone.
var errOvertaken = errors.New("the segments of a merge were replaced meanwhile")

// merging is a merge that runs.
type merging struct {
	x       *Index
	job     *merge.Job
	base    *state             // what files hold as far as job knows; held
	gone    []manifest.Segment // files that nothing needs any more
	adopted bool
	named   bool // a manifest may name the result
}

// beginMerge returns the merge that is due, if any; or it has done what must come before, as done says.
func (x *Index) beginMerge(pause func() error, rest bool) (m *merging, done bool, err error) {
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draft()
	switch {
	case errors.Is(err, ErrClosed), errors.Is(err, search.ErrSchema), errors.Is(err, errPartial):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case rest && !x.disk.filled.Load() && x.unsettled(d):
		return nil, true, x.settle(d)
	}
	due := x.due(d, rest)
	if due == nil {
		return nil, false, nil
	}
	var in []*view
	for _, v := range due {
		saved := x.disk.saved.view(v.Home)
		worn := compact.Worn(saved.Rows, saved.LiveRows)
		if (rest && !x.disk.filled.Load() || len(due) == 1 && !worn) && v.Dirty+v.Fresh > 0 {
			return nil, true, x.saveFirst() // else the result would be as worn as before
		}
		in = append(in, saved)
	}
	x.disk.next++
	x.disk.making = x.disk.next
	to := x.folder()
	to.Shape.Pause, to.Files.Pause = pause, pause
	m = &merging{x: x, base: x.hold(x.disk.saved)}
	m.job = merge.New(to, x.disk.making, m.base.of, in)
	return m, false, nil
}

// due returns the views of d that are to be merged into one by now.
func (x *Index) due(d *draft, rest bool) (in []*view) {
	var filed []*view
	var sizes []compact.Size
	for _, v := range d.Views {
		if x.disk.saved.view(v.Home) != nil {
			filed = append(filed, v)
			sizes = append(sizes, compact.Size{Rows: v.Rows, Live: v.LiveRows, Bytes: v.Home.Addressed})
		}
	}
	first, then := compact.Due, compact.AtRest
	if x.disk.filled.Load() {
		first, then = compact.Filled, compact.Due
	}
	at := first(sizes)
	if at == nil && rest {
		at = then(sizes)
	}
	for _, i := range at {
		in = append(in, filed[i])
	}
	return in
}

// unsettled reports whether at rest something in memory is to be saved, or merged there where there are no files.
func (x *Index) unsettled(d *draft) bool {
	memory := len(d.InMemory())
	return x.disk.worth(d) || memory > 0 && memory < len(d.Views) || memory > 1 && !x.disk.when.Due(d.NewRows())
}

// settle does what unsettled has found.
func (x *Index) settle(d *draft) error {
	memory := d.InMemory()
	if x.disk.worth(d) || len(memory) < len(d.Views) {
		return x.saveFirst()
	}
	if err := d.MergeInto(memory); err != nil {
		return err
	}
	x.publish(d)
	return nil
}

// saveFirst saves, or has it done by the next Merge.
func (x *Index) saveFirst() error {
	if x.aside() {
		x.disk.behind.Store(true)
		return nil
	}
	return x.save()
}

// adopt puts the result in the place of what was merged, in files and for searches. It is not done when files hold other
// changes by now than the job has followed.
func (m *merging) adopt() (done bool, err error) {
	x := m.x
	x.write.Lock()
	defer x.write.Unlock()
	defer guard(&err, x.views())()
	d, err := x.draftAnyway()
	switch {
	case err != nil:
		return false, err
	case d.Partial:
		return false, errPartial
	case x.disk.saved != m.base:
		return false, nil
	}
	now, err := m.job.Carried(d.Views)
	if errors.Is(err, merge.ErrUnsettled) && x.disk.behind.Load() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	filed := m.job.Replaced(m.base.views, m.job.Out)
	if err := m.list(filed); err != nil {
		return false, err
	}
	d.Views = m.job.Replaced(d.Views, now)
	x.publish(d)
	x.pin(x.held(newState(m.base.of, m.base.seq, filed)))
	m.gone, m.adopted = m.job.Inputs(), true
	return true, nil
}

// list writes the manifest of views, as of the change that files are of.
func (m *merging) list(views []*view) error {
	err := m.x.list(m.base.of, m.base.seq, views)
	if err != nil {
		// It may be in place and only not known to be durable. Then what it names has to stay, and what was merged, too.
		on, rerr := manifest.Read(m.x.cfg.Dir)
		m.named = rerr != nil
		for _, s := range on.Segments {
			m.named = m.named || s.Number == m.job.Number
		}
	}
	return err
}

// follow brings the result to what files hold by now.
func (m *merging) follow() error {
	x := m.x
	x.write.Lock()
	to := x.hold(x.disk.saved)
	x.write.Unlock()
	if to == nil {
		return errOvertaken
	}
	defer func() { x.release(to) }() // the former base in the end
	if !m.job.Present(to.views) {
		return errOvertaken
	}
	if err := m.job.Follow(to.views, to.of); err != nil {
		return err
	}
	m.base, to = to, m.base
	return nil
}

// overtaken reports whether files have nothing any more of what goes in.
func (m *merging) overtaken() bool {
	m.x.write.Lock()
	defer m.x.write.Unlock()
	return m.x.disk.saved == nil || !m.job.Present(m.x.disk.saved.views)
}

// end removes the files that are not needed any more: of the result when it was not adopted, else of what was merged.
func (m *merging) end() {
	x, out := m.x, m.job.Out
	x.write.Lock()
	x.disk.making = 0
	x.write.Unlock()
	if !m.adopted {
		unused := manifest.Segment{Number: m.job.Number}
		if out != nil {
			closeAll(out.Files())
			unused = out.Listed()
		}
		if !m.named {
			m.gone = append(m.gone, unused)
		}
	}
	for _, s := range m.gone {
		manifest.Discard(x.cfg.Dir, s)
	}
	x.release(m.base)
}

// work merges what is due, one merge at a time, and returns when the next is due.
func (x *Index) work(ctx context.Context, pause func() error) time.Time {
	x.write.Lock()
	began, filled := time.Now(), x.disk.filled.Load()
	rest := filled || !began.Before(x.disk.rest.At())
	x.write.Unlock()
	done, err := x.Merge(pause, rest)
	x.write.Lock()
	defer x.write.Unlock()
	x.disk.filled.Store(filled && done && err == nil)
	switch {
	case ctx.Err() != nil:
		return time.Time{}
	case err == nil:
		x.disk.failures = 0
	default:
		if x.disk.failures == 0 {
			event := EventUnmerged
			if errors.Is(err, errUnsaved) {
				event = EventUnsaved
			}
			x.notify(event, err)
		}
		x.disk.failures++
		x.disk.retry = time.Now().Add(compact.Pause(x.disk.failures))
	}
	at := x.next()
	if now := time.Now(); rest && !filled {
		x.disk.rest.Worked(now.Sub(began), at.IsZero() || at.After(now))
		at = x.next()
	}
	return at
}

// plan sets when the scheduler does what is due, after a change. The caller holds write.
func (x *Index) plan() {
	if x.task != nil {
		x.disk.rest.Wrote()
		x.task.At(x.next())
	}
}

// next returns when something is due; the zero time for never. The caller holds write.
func (x *Index) next() (at time.Time) {
	d, err := x.draft()
	switch {
	case err != nil:
		return time.Time{}
	case x.disk.filled.Load() || x.disk.behind.Load() || x.due(d, false) != nil:
		at = time.Now()
	case x.unsettled(d) || x.due(d, true) != nil:
		at = x.disk.rest.At()
	default:
		return time.Time{}
	}
	if x.disk.failures > 0 && x.disk.retry.After(at) {
		at = x.disk.retry
	}
	return at
}

package index

import (
	"errors"
	"fmt"
	"os"

	"quarry/internal/index/layer"
	"quarry/internal/index/manifest"
	"quarry/internal/index/segment"
)

// identity returns the manifest that x would write, without files.
func (x *Index) identity() manifest.Manifest {
	c := &x.cfg
	return manifest.New(manifest.Manifest{Epoch: c.Epoch, Encoder: c.Encoder, Schema: x.of.Version, Dim: c.Dim, Dimensions: c.Dimensions})
}

// writeManifest writes the manifest of d, whose segments all have files, after the deletes and columns that are in
// none.
func (x *Index) writeManifest(d *draft) error {
	for i, v := range d.Views {
		if (v.Dirty > 0 || v.Fresh > 0) && !d.Owns(v) {
			n := *v
			v = &n
			d.Own(v)
			d.Views[i] = v
		}
		if v.Dirty > 0 {
			if err := x.folder().WriteDeletes(v, v.Home.Next()); err != nil {
				return err
			}
		}
		if v.Fresh > 0 {
			if err := x.folder().WriteColumns(v, v.Home.Next()); err != nil {
				return err
			}
		}
	}
	return x.list(x.of, d.Seq, d.Views)
}

// list writes the manifest of views, which are of change seq and have values of these attributes.
func (x *Index) list(of *layer.Schema, seq int64, views []*view) error {
	m := x.identity()
	m.Schema, m.Seq = of.Version, seq
	for _, v := range views {
		m.Segments = append(m.Segments, v.Listed())
	}
	return m.Write(x.cfg.Files, x.cfg.Dir)
}

// Saved returns the number of the last change that files in dir hold, of whatever format, without opening them; ok is
// false where there is no manifest, or only a damaged one.
func Saved(dir string) (seq int64, ok bool) {
	for {
		m, err := manifest.Read(dir)
		if err != nil && !errors.Is(err, segment.ErrNewer) {
			return seq, ok
		}
		seq, ok = max(seq, m.Seq), true
		dir = manifest.Beside(dir)
	}
}

// restore returns the state that the files hold, or an empty one. Where they are of a newer format it leaves them alone
// and goes on in the folder beside them.
func (x *Index) restore() (*state, error) {
	for x.cfg.Dir != "" {
		st, err := x.restoreFiles()
		if !errors.Is(err, segment.ErrNewer) {
			return st, err
		}
		x.notify(EventNewer, err)
		x.cfg.Dir = manifest.Beside(x.cfg.Dir)
	}
	return newState(x.of, 0, nil), nil
}

// restoreFiles returns the state that the files in the folder of the configuration hold.
func (x *Index) restoreFiles() (*state, error) {
	empty := newState(x.of, 0, nil)
	m, err := manifest.Read(x.cfg.Dir)
	event := EventDamaged
	var views []*view
	switch {
	case errors.Is(err, os.ErrNotExist):
		return empty, manifest.Remove(x.cfg.Files, x.cfg.Dir)
	case err == nil && !m.Fits(x.identity()):
		event = EventForeign
		err = fmt.Errorf("index files are of format %d, epoch %d, encoder %q", m.Format, m.Epoch, m.Encoder)
	case err == nil:
		if views, err = x.openAll(m); err == nil {
			return x.restored(m, views)
		}
	}
	switch {
	case errors.Is(err, segment.ErrNewer):
		return nil, err
	case !errors.Is(err, ErrCorrupt) && event == EventDamaged && !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("open index: %w", err)
	}
	x.notify(event, err)
	return empty, manifest.Remove(x.cfg.Files, x.cfg.Dir)
}

// restored returns the state of what could be opened.
func (x *Index) restored(m manifest.Manifest, views []*view) (*state, error) {
	of := x.of
	for _, v := range views {
		if v.Values == nil {
			of = &layer.Schema{Version: NoSchema, ID: -1}
		}
		v.Hold(1)
	}
	if !m.HasColumns(of.Version) {
		of = &layer.Schema{Version: NoSchema, ID: -1}
	}
	for _, ms := range m.Segments {
		// Those that are lost count too: until the next manifest a new file of that number would be taken for the old.
		x.disk.next = max(x.disk.next, ms.Number)
	}
	st := newState(of, m.Seq, views)
	st.partial = len(views) < len(m.Segments)
	x.pin(x.hold(st))
	return st, x.sweep(views)
}

// openAll opens the segments of m. Those that are damaged are left out unless none remains, and so are the columns of
// all when those of one are damaged; Notify hears of it. One file of a newer format is an error: nothing may be removed.
func (x *Index) openAll(m manifest.Manifest) (views []*view, err error) {
	defer guard(&err, nil)()
	var damage error
	for _, ms := range m.Segments {
		v, err := x.folder().Open(ms)
		lost := err != nil
		if !lost {
			views = append(views, v)
			if m.HasColumns(x.of.Version) {
				err = x.folder().OpenColumns(v, ms.Columns, x.of)
			}
		}
		switch {
		case err == nil:
		case !errors.Is(err, ErrCorrupt) && !errors.Is(err, os.ErrNotExist):
			for _, v := range views {
				closeAll(v.Files())
			}
			return nil, err
		case lost:
			damage = errors.Join(damage, err)
		default:
			x.notify(EventDamaged, err)
		}
	}
	if len(views) == 0 && damage != nil {
		return nil, damage
	}
	if damage != nil {
		x.notify(EventDamaged, damage)
	}
	return views, nil
}

// sweep removes the files that neither views use nor a merge, and learns the highest number in use.
func (x *Index) sweep(views []*view) error {
	used := make([]manifest.Segment, len(views))
	for i, v := range views {
		x.disk.next = max(x.disk.next, v.Home.Number)
		used[i] = v.Listed()
	}
	return manifest.Sweep(x.cfg.Files, x.cfg.Dir, used, x.disk.making)
}

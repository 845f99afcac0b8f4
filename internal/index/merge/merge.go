// Package merge makes one segment of several, beside those who search and write: from what files hold, which the result
// then replaces, and with what has changed meanwhile carried over. Package index calls it and decides when; package rows
// puts the rows together.
package merge

import (
	"errors"

	"quarry/internal/index/layer"
	"quarry/internal/index/manifest"
	"quarry/internal/index/rows"
	"quarry/internal/index/view"
)

// ErrUnsettled is the error of a merge beside attributes that are in no file yet.
var ErrUnsettled = errors.New("the attributes were replaced and could not be saved")

// Job is one merge. Not safe for concurrent use.
//
// What goes in is what files hold, so that what comes out is of the same change as the manifest: files never contain a
// change that is later, since after a restored backup it would be one that did not happen. What came later is carried over
// to the result in memory.
type Job struct {
	Folder view.Folder
	Number int        // of the file of the result
	Out    *view.View // the result as files have it; nil before Build, and when no row is left

	of *layer.Schema
	// from is what is merged: the documents of the result are the live ones of these views, in order
	from []*rows.View
	in   []*view.View // the views of from, as files have them by now; nil for one that is gone
}

// New returns a job that merges in, views of files with values of these attributes, into the file with a number.
func New(f view.Folder, number int, of *layer.Schema, in []*view.View) *Job {
	j := &Job{Folder: f, Number: number, of: of, in: in}
	for _, v := range in {
		j.from = append(j.from, &v.View)
	}
	return j
}

// Build writes the result, after a look whether there is room for as much as goes in.
func (j *Job) Build() (err error) {
	defer view.Guard(&err, j.in)()
	size := int64(0)
	for _, v := range j.in {
		for _, f := range v.Files() {
			all, _ := f.Bytes()
			size += all
		}
	}
	if err := j.Folder.Files.Room(j.Folder.Dir, size); err != nil {
		return err
	}
	j.Out, err = j.Folder.Merge(j.Number, j.of, j.from, j.in)
	return err
}

// same returns the view among views of the same segment as v; nil where there is none, or v is nil.
func same(v *view.View, views []*view.View) *view.View {
	for _, w := range views {
		if v != nil && w != nil && w.Home == v.Home {
			return w
		}
	}
	return nil
}

// Present reports whether views have anything of what is merged.
func (j *Job) Present(views []*view.View) bool {
	for _, v := range j.in {
		if same(v, views) != nil {
			return true
		}
	}
	return false
}

// Replaced returns views with out, unless it is nil, in the place of what is merged.
func (j *Job) Replaced(views []*view.View, out *view.View) (kept []*view.View) {
	for _, v := range views {
		if same(v, j.in) == nil {
			kept = append(kept, v)
		}
	}
	if out != nil {
		kept = append(kept, out)
	}
	return kept
}

// Inputs returns the files of what is merged.
func (j *Job) Inputs() (out []manifest.Segment) {
	for _, v := range j.in {
		if v != nil {
			out = append(out, v.Listed())
		}
	}
	return out
}

// Carried returns the result as it is beside later views: with what was deleted and given other values since files were
// written. It is nil when no row is left. The error is ErrUnsettled where the views have other columns.
func (j *Job) Carried(later []*view.View) (*view.View, error) {
	if j.Out == nil {
		return nil, nil
	}
	out := *j.Out
	var changes []layer.Change
	for _, was := range j.in {
		if was == nil {
			continue
		}
		now := same(was, later)
		lose(&out, was, now)
		if now == nil {
			continue
		}
		since, ok := now.Values.Since(was.Values)
		if !ok {
			return nil, ErrUnsettled
		}
		out.Fresh += now.Fresh
		for _, c := range since {
			if doc, ok := out.Has(was.No(int(c.Doc))); ok {
				changes = append(changes, layer.Change{Doc: uint32(doc), Values: c.Values})
			}
		}
	}
	if out.LiveRows == 0 {
		return nil, nil
	}
	out.Values = out.Values.With(changes)
	return &out, nil
}

// lose deletes from v, which was merged of was and others, what is live in was and not in now; nil has nothing.
func lose(v, was, now *view.View) {
	var left *rows.View
	if now != nil {
		left = &now.View
	}
	own := false
	was.EachGone(left, func(no int64) {
		if !own {
			v.View, own = v.Clone(), true
		}
		if doc, ok := v.Has(no); ok {
			v.Dirty += v.Delete(doc)
		}
	})
}

// Follow brings the files of the result to what files hold by now: later views, with values of these attributes.
func (j *Job) Follow(later []*view.View, of *layer.Schema) (err error) {
	defer view.Guard(&err, append(later[:len(later):len(later)], j.in...))()
	in, sets, others := make([]*view.View, len(j.in)), make([]*layer.Set, len(j.in)), false
	for i, was := range j.in {
		if in[i] = same(was, later); in[i] != nil {
			sets[i] = in[i].Values
			others = others || in[i].Values != was.Values
		}
	}
	if j.Out != nil {
		if err := j.update(in, sets, others, of); err != nil {
			return err
		}
	}
	j.in, j.of = in, of
	return nil
}

// update writes what of the result is other than in its files: deletes, and values if others is set.
func (j *Job) update(in []*view.View, sets []*layer.Set, others bool, of *layer.Schema) error {
	out := *j.Out
	for i, was := range j.in {
		if was != nil {
			lose(&out, was, in[i])
		}
	}
	if out.Dirty > 0 {
		if err := j.Folder.WriteDeletes(&out, out.Home.Next()); err != nil {
			return err
		}
	}
	if others {
		was, err := out.Columns, error(nil)
		if out.Values, err = j.Folder.Shape.Values(of, j.from, sets); err == nil {
			err = view.CutOff(in)
		}
		if err != nil {
			return err
		}
		if err := j.Folder.WriteColumns(&out, out.Home.Next()); err != nil {
			return err
		}
		if was != nil {
			_ = was.File.Close()
		}
	}
	*j.Out = out
	return nil
}

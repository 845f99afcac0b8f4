package merge

import (
	"os"
	"path/filepath"

	"quarry/internal/index/manifest"
	"quarry/internal/index/view"
)

// Saving writes what files lack of one state: deletes and values. Not safe for concurrent use.
type Saving struct {
	Folder view.Folder
	Out    []*view.View // the state as files have it after Write

	was  []*view.View
	gens []manifest.Segment // of the files to write, 0 = none
}

// NewSaving returns the saving of views, which all have files. The caller has the writer's turn.
func NewSaving(f view.Folder, views []*view.View) *Saving {
	s := &Saving{Folder: f, was: views}
	for _, v := range views {
		g := manifest.Segment{Number: v.Home.Number}
		if v.Dirty > 0 {
			g.Deletes = v.Home.Next()
		}
		if v.Fresh > 0 {
			g.Columns = v.Home.Next()
		}
		s.gens = append(s.gens, g)
	}
	return s
}

// Write writes the files. After an error Discard is to be called.
func (s *Saving) Write() (err error) {
	defer view.Guard(&err, s.was)()
	for i, v := range s.was {
		out := *v
		s.Out = append(s.Out, &out)
		if g := s.gens[i]; g.Deletes > 0 {
			err = s.Folder.WriteDeletes(&out, g.Deletes)
		}
		if g := s.gens[i]; g.Columns > 0 && err == nil {
			err = s.Folder.WriteColumns(&out, g.Columns)
		}
		if err != nil {
			return err
		}
	}
	return view.CutOff(s.was) // what was read may be zeros
}

// Carried returns later views, as files have them by now and with what has changed since.
func (s *Saving) Carried(later []*view.View) (out []*view.View) {
	for _, now := range later {
		v := *now
		for i, saved := range s.Out {
			if saved.Home == now.Home {
				s.carry(&v, i)
			}
		}
		out = append(out, &v)
	}
	return out
}

// carry sets what of v, a later state of a view, is in files.
func (s *Saving) carry(v *view.View, i int) {
	was, saved := s.was[i], s.Out[i]
	v.Gen, v.Dirty = saved.Gen, saved.LiveRows-v.LiveRows
	if s.gens[i].Columns == 0 {
		return
	}
	v.Columns = saved.Columns
	if since, ok := v.Values.Since(was.Values); ok { // else they are of other attributes by now, and in no file
		v.Values, v.Fresh = saved.Values.With(since), len(since)
	}
}

// Discard removes the files, of which no manifest knows.
func (s *Saving) Discard() {
	for i, g := range s.gens {
		if g.Columns > 0 && i < len(s.Out) && s.Out[i].Columns != nil && s.Out[i].Columns != s.was[i].Columns {
			_ = s.Out[i].Columns.File.Close() // nobody else has seen it
		}
		if g.Deletes > 0 { // what can't be removed is left to sweeping
			_ = os.Remove(filepath.Join(s.Folder.Dir, g.DeletesFile()))
		}
		if g.Columns > 0 {
			_ = os.Remove(filepath.Join(s.Folder.Dir, g.ColumnsFile()))
		}
	}
}

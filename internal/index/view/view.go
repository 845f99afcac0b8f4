// Package view is a segment as an index shows it: its rows, what is deleted in it, its values, and the files in which these
// lie, written and opened. Packages index and merge call it; it decides nothing.
package view

import (
	"cmp"
	"slices"

	"quarry/internal/index/manifest"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
	"quarry/internal/text/lang"
)

// Home is where a segment lies; the zero value stands for memory.
type Home struct {
	Path   string // of the file, "" in memory
	Number int    // of the file
	Of     int64  // version of the attributes whose columns are in it
	// Addressed is how much of it is found by offsets of 32 bits
	Addressed int64
	Refs      int // what holds it; guarded by whoever counts
	last      int // generation of a file of deletes or columns
}

// Next returns the generation of the next file of deletes or columns: no two files have the same, though one of them may never
// be used. The caller has the writer's turn, or nobody else knows the segment.
func (h *Home) Next() int {
	h.last++
	return h.last
}

// ColumnFile is a file with all columns of a segment, in place of the segment's own.
type ColumnFile struct {
	Gen  int
	File *segment.File // nil while the columns are of a version that is not known
	Refs int           // what holds it; guarded by whoever counts
}

// View is a segment as a state shows it, and what files hold of it. Immutable once it is shown.
type View struct {
	rows.View
	Home    *Home
	Columns *ColumnFile // of the columns under Values; nil when they are the segment's own or in memory
	Fresh   int         // documents whose values are in no file
	Gen     int         // of the file with the deletes, 0 = none
	Dirty   int         // rows deleted since that file was written
}

// New returns a view of all of s, which is in memory.
func New(s *rows.Segment) *View { return &View{View: rows.NewView(s), Home: &Home{}} }

// Copy returns a copy of which documents may be deleted.
func (v *View) Copy() *View {
	c := *v
	c.View = v.Clone()
	return &c
}

// InMemory reports that the segment has no file.
func (v *View) InMemory() bool { return v.Home.Path == "" }

// Listed returns the files of v as the manifest lists them.
func (v *View) Listed() manifest.Segment {
	out := manifest.Segment{Number: v.Home.Number, Deletes: v.Gen}
	if v.Columns != nil {
		out.Columns = v.Columns.Gen
	}
	return out
}

// Files returns the files that v reads.
func (v *View) Files() []*segment.File {
	out := []*segment.File{v.File}
	if v.Columns != nil && v.Columns.File != nil {
		out = append(out, v.Columns.File)
	}
	return out
}

// Reads reports whether v reads a file with that name.
func (v *View) Reads(file string) bool {
	return slices.ContainsFunc(v.Files(), func(f *segment.File) bool { return f.Name == file })
}

// Hold counts what holds the files of v.
func (v *View) Hold(n int) {
	v.Home.Refs += n
	if v.Columns != nil {
		v.Columns.Refs += n
	}
}

// Unheld appends the files of v that nothing holds.
func (v *View) Unheld(to []*segment.File) []*segment.File {
	if v.Home.Refs == 0 {
		to = append(to, v.File)
	}
	if v.Columns != nil && v.Columns.Refs == 0 && v.Columns.File != nil {
		to = append(to, v.Columns.File)
	}
	return to
}

// Languages returns the languages of the live parts of all views, the most frequent first, then by code; live counts the live rows with
// a stem of view i.
func Languages(views []*View, live func(i, stem int) int) (out []lang.Count) {
	parts := map[string]int{}
	for i, v := range views {
		for w := v.Stems.Prefix(rows.LanguageMark); w.Next(); {
			parts[string(w.Term[len(rows.LanguageMark):])] += live(i, w.Ordinal)
		}
	}
	for code, n := range parts {
		if n > 0 {
			out = append(out, lang.Count{Code: code, Texts: n})
		}
	}
	slices.SortFunc(out, func(a, b lang.Count) int { return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Code, b.Code)) })
	return out
}

// Vector returns the vector of the live row of a part, nil if there is none.
func Vector(views []*View, no int64, ord int) []float32 {
	for _, v := range views {
		if row, ok := v.rowOf(no, ord); ok {
			return v.Vectors.Vector(row)
		}
	}
	return nil
}

// rowOf returns the live row of a part of a document, if there is one.
func (v *View) rowOf(no int64, ord int) (row int, ok bool) {
	d, ok := v.Find(no)
	if !ok {
		return 0, false
	}
	from, to := v.Run(d)
	row = from + ord // parts are in order, without gaps
	return row, row < to && v.IsLive(row) && v.OrdOf(row) == ord
}

// Guard guards what is done with views against faults in their files: segment.Guard.
func Guard(err *error, views []*View) func() {
	return segment.Guard(err, false, func() []*segment.File { return files(views) })
}

// GuardReading is Guard for what only reads: also a file that turns out to have been cut off is an error.
func GuardReading(err *error, views []*View) func() {
	return segment.Guard(err, true, func() []*segment.File { return files(views) })
}

// CutOff is segment.CutOff for the files of views.
func CutOff(views []*View) error { return segment.CutOff(files(views)) }

func files(views []*View) (out []*segment.File) {
	for _, v := range views {
		if v != nil {
			out = append(out, v.Files()...)
		}
	}
	return out
}

// Package view is a segment as an index shows it: its rows, what is deleted in it, its values, and the files in which these
// lie, written and opened. Packages index and merge call it; it decides nothing.
package view

import (
	"runtime/debug"

	"quarry/internal/index/manifest"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
)

// Home is where a segment lies; the zero value stands for memory.
type Home struct {
	Path   string // of the file, "" in memory
	Number int    // of the file
	Of     int64  // version of the attributes whose columns are in it
	// Addressed is how much of it is found by offsets of 32 bits
	Addressed int64
	Refs      int // what holds it; guarded by whoever counts
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

// Guard turns a fault in mapped memory (a file that was cut off, a disk that fails) into a panic of this goroutine, and
// returns a function to defer that recovers it as a *segment.Corrupt of one of the views. Other panics go on.
func Guard(err *error, views []*View) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		r := recover()
		if r == nil {
			return
		}
		fault, ok := r.(interface{ Addr() uintptr })
		if !ok {
			panic(r)
		}
		for _, v := range views {
			for _, f := range v.Files() {
				if c := f.Locate(fault.Addr()); c != nil {
					*err = c
					return
				}
			}
		}
		*err = &segment.Corrupt{File: "unknown", Reason: "reading mapped memory failed"}
	}
}

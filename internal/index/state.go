package index

import (
	"quarry/internal/index/layer"
	"quarry/internal/index/lexical"
	"quarry/internal/index/rows"
	"quarry/internal/index/segment"
)

// segmentFile is the file of a segment; the zero value stands for one in memory.
type segmentFile struct {
	path   string // "" in memory
	of     int64  // version of the attributes whose columns are in it
	number int    // of the file
	refs   int    // states that hold it; guarded by Index.mu
}

// view is a segment as a state shows it, and what files hold of it. Immutable once published.
type view struct {
	rows.View
	segment *segmentFile
	columns *columnFile // of the columns under Values; nil when they are the segment's own or in memory
	fresh   int         // documents whose values are in no file
	gen     int         // of the file with the deletes, 0 = none
	dirty   int         // rows deleted since that file was written
}

// newView returns a view of all of s, which is in memory.
func newView(s *rows.Segment) *view { return &view{View: rows.NewView(s), segment: &segmentFile{}} }

// clone returns a copy of which documents may be deleted.
func (v *view) clone() *view {
	c := *v
	c.View = v.Clone()
	return &c
}

// state is what searches see: segments with their deletes, and the statistics of all live rows. Immutable.
type state struct {
	of      *layer.Schema
	views   []*view
	seq     int64
	rows    int
	lexical lexical.Corpus
	refs    int // snapshots, and one while it is current; guarded by Index.mu
}

func newState(of *layer.Schema, seq int64, views []*view) *state {
	st := &state{of: of, views: views, seq: seq, refs: 1}
	for _, v := range views {
		st.rows += v.LiveRows
		st.lexical.Length += v.Length
		st.lexical.Segments = append(st.lexical.Segments, lexical.Segment{
			Rows: v.Rows, Stems: v.Stems, Words: v.Words, Forward: v.Forward, Norms: v.Norms,
			Live: v.Live, Dead: v.Dead,
		})
	}
	st.lexical.Rows = st.rows
	return st
}

// Snapshot is one state of the index. It must be released. Safe for concurrent use.
type Snapshot struct {
	x  *Index
	st *state
}

// Snapshot returns the present state. After Close it is empty.
func (x *Index) Snapshot() *Snapshot {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := x.cur
	if st == nil {
		st = newState(x.of, 0, nil)
	}
	st.refs++
	return &Snapshot{x, st}
}

// Seq returns the number of the last change that the snapshot shows.
func (s *Snapshot) Seq() int64 { return s.st.seq }

// Release ends the use of the snapshot, which keeps files mapped until then.
func (s *Snapshot) Release() {
	if s.st != nil {
		s.x.release(s.st)
		s.st = nil
	}
}

// release drops one reference to st, and unmaps what no state holds any more.
func (x *Index) release(st *state) {
	var unused []*segment.File
	var gone []*layer.Set
	x.mu.Lock()
	st.refs--
	if st.refs == 0 {
		gone = st.valuesBut(x.cur)
		for _, v := range st.views {
			v.segment.refs--
			if v.columns != nil {
				v.columns.refs--
			}
			unused = v.unheld(unused)
		}
	}
	x.mu.Unlock()
	closeAll(unused)
	for _, values := range gone {
		x.cfg.Conditions.Forget(values)
	}
}

// valuesBut returns the values of the segments of st that the current state does not have. Results of conditions under
// them are of no use any more: other states that still have them leave new ones until they are released, too.
func (st *state) valuesBut(cur *state) (out []*layer.Set) {
	kept := map[*layer.Set]bool{}
	if cur != nil {
		for _, v := range cur.views {
			kept[v.Values] = true
		}
	}
	for _, v := range st.views {
		if !kept[v.Values] {
			out = append(out, v.Values)
		}
	}
	return out
}

// hold adds a reference of a state to v; the caller holds Index.mu.
func (v *view) hold() {
	v.segment.refs++
	if v.columns != nil {
		v.columns.refs++
	}
}

// unheld appends the files of v that no state has; the caller holds Index.mu.
func (v *view) unheld(to []*segment.File) []*segment.File {
	if v.segment.refs == 0 {
		to = append(to, v.File)
	}
	if v.columns != nil && v.columns.refs == 0 && v.columns.file != nil {
		to = append(to, v.columns.file)
	}
	return to
}

func closeAll(files []*segment.File) {
	for _, f := range files {
		// Unmapping memory that was mapped cannot fail in a way that anything could be done about.
		_ = f.Close()
	}
}

// publish replaces the current state by the draft.
func (x *Index) publish(d *draft) {
	st := newState(d.of, d.seq, d.views)
	x.mu.Lock()
	for _, v := range st.views {
		v.hold()
	}
	old := x.cur
	x.cur = st
	x.mu.Unlock()
	x.release(old)
}

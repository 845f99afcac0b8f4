package index

import (
	"slices"

	"quarry/internal/index/layer"
	"quarry/internal/index/lexical"
	"quarry/internal/index/rowset"
	"quarry/internal/index/segment"
)

// view is a segment with what is deleted in it. Immutable once published.
type view struct {
	seg    *seg
	values *layer.Set  // nil while the attributes are of a version that is not known
	file   *columnFile // of the columns under values; nil when they are the segment's own or in memory
	fresh  int         // documents whose values are in no file
	live   []uint64    // one bit per row; nil = all
	rows   int         // live ones
	docs   int         // live ones
	length int64       // sum of the lengths of live rows
	dead   []uint32    // per stem: rows that are deleted; nil = none
	gen    int         // of the file with the deletes, 0 = none
	dirty  int         // rows deleted since that file was written
}

func newView(s *seg) *view {
	v := &view{seg: s, values: s.values, rows: s.rows, docs: s.docs}
	for i := range s.rows {
		v.length += int64(le32(s.length, i))
	}
	return v
}

func (v *view) isLive(row int) bool { return rowset.Has(v.live, row) }

// eachRow calls f for every live row in order.
func (v *view) eachRow(f func(row int)) {
	for row := range v.seg.rows {
		if v.isLive(row) {
			f(row)
		}
	}
}

// clone gives a copy that may be changed.
func (v *view) clone() *view {
	c := *v
	if c.live == nil {
		c.live = rowset.All(v.seg.rows)
		c.dead = make([]uint32, v.seg.stems.Len())
	} else {
		c.live, c.dead = slices.Clone(v.live), slices.Clone(v.dead)
	}
	return &c
}

// kill deletes a live document; v is a clone.
func (v *view) kill(d int) {
	from, to := v.seg.run(d)
	for row := from; row < to; row++ {
		rowset.Remove(v.live, row)
		v.length -= int64(le32(v.seg.length, row))
		for w := v.seg.forward.Row(row); w.Next(); {
			v.dead[w.Ordinal]++
		}
	}
	v.rows -= to - from
	v.dirty += to - from
	v.docs--
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
		st.rows += v.rows
		st.lexical.Length += v.length
		st.lexical.Segments = append(st.lexical.Segments, lexical.Segment{
			Rows: v.seg.rows, Stems: v.seg.stems, Words: v.seg.words, Forward: v.seg.forward, Norms: v.seg.norm,
			Live: v.live, Dead: v.dead,
		})
	}
	st.lexical.Rows = st.rows
	return st
}

// Snapshot is one state of the index. It must be released; it keeps files mapped until then. Safe for concurrent use.
type Snapshot struct {
	x  *Index
	st *state
}

// Snapshot gives the present state. After Close it is empty.
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

// Seq is the number of the last change that the snapshot shows.
func (s *Snapshot) Seq() int64 { return s.st.seq }

// Release gives the snapshot back. It must not be used afterwards.
func (s *Snapshot) Release() {
	if s.st != nil {
		s.x.release(s.st)
		s.st = nil
	}
}

// release gives up one reference to st, and unmaps what no state holds any more.
func (x *Index) release(st *state) {
	var unused []*segment.File
	x.mu.Lock()
	st.refs--
	if st.refs == 0 {
		for _, v := range st.views {
			v.seg.refs--
			if v.file != nil {
				v.file.refs--
			}
			unused = v.unheld(unused)
		}
	}
	x.mu.Unlock()
	closeAll(unused)
}

// hold counts a state that has v; the caller holds Index.mu.
func (v *view) hold() {
	v.seg.refs++
	if v.file != nil {
		v.file.refs++
	}
}

// unheld appends the files of v that no state has; the caller holds Index.mu.
func (v *view) unheld(to []*segment.File) []*segment.File {
	if v.seg.refs == 0 {
		to = append(to, v.seg.file)
	}
	if v.file != nil && v.file.refs == 0 && v.file.file != nil {
		to = append(to, v.file.file)
	}
	return to
}

func closeAll(files []*segment.File) {
	for _, f := range files {
		// Unmapping memory that was mapped cannot fail in a way that anything could be done about.
		_ = f.Close()
	}
}

// publish makes the draft's content current.
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

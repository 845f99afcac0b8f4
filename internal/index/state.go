package index

import (
	"quarry/internal/index/layer"
	"quarry/internal/index/lexical"
	"quarry/internal/index/segment"
	shown "quarry/internal/index/view"
)

// view is a segment as a state shows it, and what files hold of it. The references of its files are guarded by Index.mu.
type view = shown.View

// state is what searches see: segments with their deletes, and the statistics of all live rows. Immutable.
type state struct {
	of      *layer.Schema
	views   []*view
	seq     int64
	rows    int
	partial bool // documents are missing that damaged files held
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

// Partial reports that the snapshot lacks documents that damaged files held: it is not to be searched.
func (s *Snapshot) Partial() bool { return s.st.partial }

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
			v.Hold(-1)
			unused = v.Unheld(unused)
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

// pin sets what the files hold: st, of which it takes over the caller's reference; nil when there are no files. The caller
// holds Index.write.
func (x *Index) pin(st *state) {
	x.mu.Lock()
	old := x.disk.saved
	x.disk.saved = st
	x.mu.Unlock()
	if old != nil {
		x.release(old)
	}
}

// hold adds a reference to st, which may be nil, and returns it.
func (x *Index) hold(st *state) *state {
	if st != nil {
		x.mu.Lock()
		st.refs++
		x.mu.Unlock()
	}
	return st
}

// view returns the view of the segment that lies there; nil when st has none.
func (st *state) view(home *shown.Home) *view {
	if st != nil {
		for _, v := range st.views {
			if v.Home == home {
				return v
			}
		}
	}
	return nil
}

func closeAll(files []*segment.File) {
	for _, f := range files {
		// Unmapping memory that was mapped cannot fail in a way that anything could be done about.
		_ = f.Close()
	}
}

// publish replaces the current state by the draft, and returns it.
func (x *Index) publish(d *draft) *state {
	st := x.held(newState(d.Of, d.Seq, d.Views))
	st.partial = d.Partial
	x.mu.Lock()
	old := x.cur
	x.cur = st
	x.mu.Unlock()
	x.release(old)
	return st
}

// held returns st after it has taken hold of its views.
func (x *Index) held(st *state) *state {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range st.views {
		v.Hold(1)
	}
	return st
}

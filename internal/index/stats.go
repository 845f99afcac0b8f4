package index

import shown "quarry/internal/index/view"

// Stats describes the index.
type Stats struct {
	shown.Stats
	Applied int64
	Merging bool // a merge runs, or is to at once
}

// Stats returns figures of the present state.
func (x *Index) Stats() Stats {
	s := x.Snapshot()
	defer s.Release()
	return s.Stats()
}

// Stats returns figures of the snapshot. It counts what lists, columns and files say of themselves and reads no row.
func (s *Snapshot) Stats() Stats {
	return Stats{Stats: shown.Describe(s.st.views), Applied: s.st.seq, Merging: s.x.merging.Load() || s.x.disk.filled.Load()}
}

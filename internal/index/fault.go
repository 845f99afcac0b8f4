package index

import shown "quarry/internal/index/view"

// guard is view.Guard.
func guard(err *error, views []*view) func() { return shown.Guard(err, views) }

// guard is view.GuardReading.
func (s *Snapshot) guard(err *error) func() { return shown.GuardReading(err, s.st.views) }

// views returns the segments of the present state.
func (x *Index) views() []*view {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return nil
	}
	return x.cur.views
}

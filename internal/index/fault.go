package index

import shown "quarry/internal/index/view"

// guard is view.Guard.
func guard(err *error, views []*view) func() { return shown.Guard(err, views) }

// views returns the segments of the present state.
func (x *Index) views() []*view {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cur == nil {
		return nil
	}
	return x.cur.views
}

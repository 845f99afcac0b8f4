package index

import (
	shown "quarry/internal/index/view"
	"quarry/internal/search"
)

// Vectors returns the vectors of parts, of unit length up to rounding; nil for one that is gone or has none.
func (s *Snapshot) Vectors(parts []search.Hit) (out [][]float32, err error) {
	defer s.guard(&err)()
	out = make([][]float32, len(parts))
	if s.x.rotation == nil {
		return out, nil
	}
	for i, p := range parts {
		out[i] = shown.Vector(s.st.views, p.No, p.Ord)
	}
	return out, nil
}

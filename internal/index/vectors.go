package index

import "quarry/internal/search"

// Vectors returns the vectors of parts, of unit length up to rounding; nil for one that is gone or has none.
func (s *Snapshot) Vectors(parts []search.Hit) (out [][]float32, err error) {
	defer guard(&err, s.st.views)()
	out = make([][]float32, len(parts))
	if s.x.rotation == nil {
		return out, nil
	}
	for i, p := range parts {
		for _, v := range s.st.views {
			d, ok := v.seg.find(p.No)
			if !ok {
				continue
			}
			from, to := v.seg.run(d)
			if row := from + p.Ord; row < to && v.isLive(row) && v.seg.ordOf(row) == p.Ord { // parts are in order, without gaps
				out[i] = v.seg.vectors.Vector(row)
			}
		}
	}
	return out, nil
}

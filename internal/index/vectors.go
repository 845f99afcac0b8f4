package index

import "quarry/internal/search"

// Vectors returns the vectors of parts, of unit length up to rounding; nil for one that is gone or has none.
func (s *Snapshot) Vectors(parts []search.Hit) (out [][]float32, err error) {
	defer s.guard(&err)()
	out = make([][]float32, len(parts))
	if s.x.rotation == nil {
		return out, nil
	}
	for i, p := range parts {
		for _, v := range s.st.views {
			d, ok := v.Find(p.No)
			if !ok {
				continue
			}
			from, to := v.Run(d)
			if row := from + p.Ord; row < to && v.IsLive(row) && v.OrdOf(row) == p.Ord { // parts are in order, without gaps
				out[i] = v.Vectors.Vector(row)
			}
		}
	}
	return out, nil
}

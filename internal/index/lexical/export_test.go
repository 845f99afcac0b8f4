package lexical

import "quarry/internal/index/postings"

// WindowAt sets how many rows are scored together, so that small segments can stand for large ones.
func (s *Scorer) WindowAt(rows int) { s.window = rows }

// Exhaustive returns the scores of all rows of a segment, the terms summed in the order of the query: the oracle of
// Search.
func (s *Scorer) Exhaustive(segment int) []float64 {
	sg := &s.c.Segments[segment]
	sums := make([]float64, sg.Rows)
	for _, t := range s.terms {
		l := t.lists[segment]
		add := func(row, freq uint32) {
			sums[row] += float64(t.weight * saturate(float64(freq), s.norm[sg.Norms[row]]))
		}
		if l.stem >= 0 {
			eachPosting(sg.Stems, l.stem, add)
		}
		for i, row := range l.rows {
			add(row, l.freqs[i])
		}
	}
	return sums
}

// Share returns what a posting adds to a score, for a term of weight 1.
func (s *Scorer) Share(freq uint32, length byte) float64 { return s.share(freq, length) }

// HighestShare returns what postings of a bound add at most, for a term of weight 1.
func (s *Scorer) HighestShare(b postings.Bound) float64 { return s.highest(b) }

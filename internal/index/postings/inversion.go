package postings

import "slices"

// Inversion gathers the lists of one field.
type Inversion map[string]*List

// Add counts a term once more, weight times, in row.
func (v Inversion) Add(term string, row, weight uint32) *List {
	l := v[term]
	if l == nil {
		l = &List{}
		v[term] = l
	}
	if n := len(l.Rows); n > 0 && l.Rows[n-1] == row {
		l.Freqs[n-1] += weight
	} else {
		l.Rows, l.Freqs = append(l.Rows, row), append(l.Freqs, weight)
	}
	return l
}

// Place records a word at a position; twice the same counts once.
func (v Inversion) Place(term string, row, pos uint32) {
	if l := v[term]; l != nil && l.Rows[len(l.Rows)-1] == row && l.Positions[len(l.Positions)-1] == pos {
		return
	}
	l := v.Add(term, row, 1)
	l.Positions = append(l.Positions, pos)
}

func (v Inversion) sorted() []string {
	terms := make([]string, 0, len(v))
	for t := range v {
		terms = append(terms, t)
	}
	slices.Sort(terms)
	return terms
}

// Field returns the field of the lists.
func (v Inversion) Field() *Field {
	var b Builder
	for _, term := range v.sorted() {
		b.Add([]byte(term), v[term])
	}
	return b.Field()
}

// Both returns the field of the lists, with bounds, and the terms of each row, whose length bytes are given.
func (v Inversion) Both(lengths []byte) (*Field, *Forward) {
	type entry struct{ term, freq uint32 }
	ofRow := make([][]entry, len(lengths))
	b := Builder{Lengths: lengths}
	for _, term := range v.sorted() {
		l := v[term]
		n := uint32(b.Add([]byte(term), l))
		for i, r := range l.Rows {
			ofRow[r] = append(ofRow[r], entry{n, l.Freqs[i]})
		}
	}
	var f ForwardBuilder
	for _, es := range ofRow {
		f.Begin()
		for _, e := range es {
			f.Add(e.term, e.freq)
		}
	}
	return b.Field(), f.Forward()
}

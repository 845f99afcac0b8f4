package builtin

import (
	"cmp"
	"slices"
)

// choose gives the sentences of the answer, best first. room says whether sentences fit; the best is taken in any case.
func (f *findings) choose(room func([]*candidate) bool) []*candidate {
	var out []*candidate
	for _, c := range f.ranked {
		if len(out) == mostSentence {
			break
		}
		if len(out) > 0 && !room(append(slices.Clone(out), c)) {
			f.cut = true
			continue
		}
		out = append(out, c)
	}
	return out
}

// readable gives sentences in the order of the passages.
func (f *findings) readable(chosen []*candidate) []*candidate {
	out := slices.Clone(chosen)
	slices.SortFunc(out, func(a, b *candidate) int { return cmp.Compare(a.place, b.place) })
	return out
}

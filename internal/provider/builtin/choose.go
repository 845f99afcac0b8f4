package builtin

import (
	"cmp"
	"slices"
)

const (
	// mostSentences is how many sentences the answer to one question has.
	mostSentences = 3
	// margin is how far below the best a sentence may score to be in the answer, too.
	margin = 0.6
	// least is the evidence below which the best sentence is no answer, and foreignLeast the same for languages in which
	// the cosine means little. Fitted on XQuAD in English and German; docs/benchmarks.md shows how often each is wrong.
	least        = 0.45
	foreignLeast = 0.3
	// partLeast is the same for a further question in one that has an answer.
	partLeast = 0.3
)

// choose returns the sentences of the answer, best first, the best for each part of the question before others. room reports
// whether sentences fit; the best is chosen in any case.
func (f *findings) choose(room func([]*candidate) bool) []*candidate {
	var out []*candidate
	add := func(c *candidate) {
		switch {
		case slices.Contains(out, c):
		case len(out) > 0 && !room(append(slices.Clone(out), c)):
			f.cut = true
		default:
			out = append(out, c)
		}
	}
	least := f.least()
	for i := range f.question.parts {
		ranked := f.ranked(func(c *candidate) float64 { return f.score(c, i) })
		if len(ranked) > 0 && f.evidence(ranked[0], i) >= least {
			add(ranked[0])
			least = min(least, partLeast)
		}
	}
	if len(out) == 0 {
		return nil
	}
	ranked := f.ranked(f.best)
	for _, c := range ranked {
		if len(out) >= max(mostSentences, len(f.question.parts)) || f.best(c) < f.best(ranked[0])-margin {
			break
		}
		if !c.aside {
			add(c)
		}
	}
	return out
}

func (f *findings) least() float64 {
	if f.question.lang == "eng" {
		return least
	}
	return foreignLeast
}

// ranked returns the candidates, best first. Questions and headings count only if there is nothing else.
func (f *findings) ranked(score func(*candidate) float64) []*candidate {
	out := slices.DeleteFunc(slices.Clone(f.candidates), func(c *candidate) bool { return c.asks })
	if len(out) == 0 {
		out = slices.Clone(f.candidates)
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(score(b), score(a)) })
	return out
}

// readable returns sentences in the order of the passages.
func (f *findings) readable(chosen []*candidate) []*candidate {
	return slices.SortedFunc(slices.Values(chosen), func(a, b *candidate) int { return cmp.Compare(a.place, b.place) })
}

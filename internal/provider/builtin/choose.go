package builtin

import (
	"cmp"
	"math"
	"slices"

	"quarry/internal/provider/builtin/question"
)

const (
	// mostSentences is how many sentences the answer to one question has.
	mostSentences = 3
	// A sentence beside the best is in the answer if it scores as much as the best less close, or as that less margin and holds
	// words of the question that no chosen one holds: newWords of their weight. Where as much as there is to tell is asked for, it
	// is if it scores as much as the best less far.
	close    = 0.3
	margin   = 0.45
	newWords = 0.05
	far      = 0.6
	// least is the evidence below which what the system or the user has said has nothing to do with the question, and foreignLeast the
	// same for languages in which the cosine means little. Package confidence decides whether the passages hold an answer.
	least        = 0.45
	foreignLeast = 0.3
	// partLeast is the evidence that the answer to a further question needs, in one that has an answer.
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
	for i := range f.question.Parts {
		ranked := f.ranked(func(c *candidate) float64 { return f.score(c, i) })
		if len(ranked) > 0 && (f.held(ranked, i) || len(out) > 0 && f.found(ranked, i) >= partLeast) {
			add(ranked[0])
		}
	}
	if len(out) == 0 {
		return nil
	}
	ranked := f.ranked(f.best)
	close, margin := close, margin
	if f.question.Parts[0].Kind == question.Account {
		close, margin = far, far
	}
	for _, c := range ranked {
		behind := f.best(ranked[0]) - f.best(c)
		if len(out) >= max(mostSentences, len(f.question.Parts)) || behind > margin {
			break
		}
		if !c.aside && (behind <= close && !follows(c, out) || f.adds(c, out) >= newWords) {
			add(c)
		}
	}
	return out
}

// follows reports whether a candidate is a sentence with a pronoun whose subject a chosen one names: it is as close as that by its
// words.
func follows(c *candidate, chosen []*candidate) bool {
	return c.Leans && slices.ContainsFunc(chosen, func(o *candidate) bool { return o.text == c.Before })
}

// found returns how much the best candidates have to do with a part of the question: the first of them may be the value that it asks
// for, and one after it the sentence that names its subject.
func (f *findings) found(ranked []*candidate, part int) float64 {
	most := 0.0
	for _, c := range ranked[:min(len(ranked), mostSentences)] {
		most = max(most, f.evidence(c, part))
	}
	return most
}

// adds returns the share of the terms of a part that a candidate holds and none of the chosen ones does, of the part where
// that is most.
func (f *findings) adds(c *candidate, chosen []*candidate) float64 {
	most := 0.0
	for i := range f.question.Parts {
		share := 0.0
		for _, t := range f.terms[i] {
			if c.holds(t.stem) && !slices.ContainsFunc(chosen, func(o *candidate) bool { return o.holds(t.stem) }) {
				share += t.share
			}
		}
		most = max(most, share)
	}
	return most
}

func (f *findings) least() float64 {
	if f.question.Language == "eng" {
		return least
	}
	return foreignLeast
}

// ranked returns the candidates that may answer, best first. Questions and headings count only if there is nothing else.
func (f *findings) ranked(score func(*candidate) float64) []*candidate {
	able := slices.DeleteFunc(slices.Clone(f.candidates), func(c *candidate) bool { return math.IsInf(score(c), -1) })
	out := slices.DeleteFunc(slices.Clone(able), func(c *candidate) bool { return c.asks || c.unfit })
	if len(out) == 0 {
		out = able
	}
	slices.SortStableFunc(out, func(a, b *candidate) int { return cmp.Compare(score(b), score(a)) })
	return out
}

// readable returns sentences as they are printed: the best first, the others in the order of the passages.
func (f *findings) readable(chosen []*candidate) []*candidate {
	out := slices.Clone(chosen)
	if len(out) > 2 {
		slices.SortFunc(out[1:], func(a, b *candidate) int { return cmp.Compare(a.place, b.place) })
	}
	return out
}

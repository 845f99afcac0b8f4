package verify

import (
	"slices"

	"quarry/internal/answer/verify/fact"
)

// support returns the sentence of the sources that supports f best, whatever differs from it: what contradicts f is sought
// there and nowhere else.
func (f *Sentence) support() *Span {
	best := 0
	for i, a := range f.alike {
		if a > f.alike[best] {
			best = i
		}
	}
	return f.Near[best]
}

func (s *Span) facts() fact.Sentence {
	return fact.Sentence{Lang: s.Lang, Words: s.Words, Negations: s.negations}
}

// most is the number of numbers, and of names, of a sentence whose place is compared: a table or a log is not read cell by cell.
const most = 32

func first[T any](list []T) []T { return list[:min(most, len(list))] }

// rivals looks for numbers and names that the sources have, but in whose place the supporting sentence has another one.
func (f *Sentence) rivals() {
	for _, n := range first(f.Numbers) {
		if n.Soft || slices.ContainsFunc(f.Support.Numbers, n.Equal) {
			continue
		}
		if slices.ContainsFunc(first(f.Support.Numbers), func(m fact.Number) bool { return f.rival(n, m) }) && !f.excused(n) {
			f.Differences.Rivals = append(f.Differences.Rivals, fact.Place{Start: n.Start, End: n.End})
		}
	}
	theirs := first(Names(f.Support))
	for _, n := range first(Names(f.Span)) {
		if fact.HasName(n.Text, f.Support.Words) {
			continue
		}
		left, right := beside(f.Words, n.Word)
		lacking := slices.ContainsFunc(f.Differences.Names, func(m fact.Name) bool { return m.Start == n.Start })
		for _, m := range theirs {
			l, r := beside(f.Support.Words, m.Word)
			if (l == left && r == right || lacking && (l == left || r == right)) && !fact.HasName(m.Text, f.Words) && !f.oneName(n.Text, m.Text) {
				f.Differences.Rivals = append(f.Differences.Rivals, fact.Place{Start: n.Start, End: n.End})
				break
			}
		}
	}
}

// rival reports whether the supporting sentence has m where f has n.
func (f *Sentence) rival(n, m fact.Number) bool {
	return !m.Soft && n.Month == m.Month && n.Percent == m.Percent && n.Unit == m.Unit && !slices.ContainsFunc(f.Numbers, m.Equal) &&
		fact.Neighbours(f.Words, n.Start, n.End, f.Support.Words, m.Start, m.End)
}

// excused reports whether another sentence near to f states the number and has the names of f that the supporting one has.
func (f *Sentence) excused(n fact.Number) bool {
	names := first(Names(f.Span))
	return slices.ContainsFunc(f.Near, func(s *Span) bool {
		return slices.ContainsFunc(first(s.Numbers), func(m fact.Number) bool {
			return n.Equal(m) && fact.Neighbours(f.Words, n.Start, n.End, s.Words, m.Start, m.End)
		}) && !slices.ContainsFunc(names, func(name fact.Name) bool {
			return fact.HasName(name.Text, f.Support.Words) && !fact.HasName(name.Text, s.Words)
		})
	})
}

// oneName reports whether a source has two names side by side, so that both may be of the same person.
func (f *Sentence) oneName(a, b string) bool {
	return slices.ContainsFunc(f.Near, func(s *Span) bool { return s.pairs[a+" "+b] || s.pairs[b+" "+a] })
}

// beside returns the words before and after word i.
func beside(ws []fact.Word, i int) (left, right string) {
	if i > 0 {
		left = ws[i-1].Text
	}
	if i+1 < len(ws) {
		right = ws[i+1].Text
	}
	return left, right
}

// short is the number of words of content up to which one that the supporting sentence lacks is no sign that it is about
// something else.
const short = 4

// held returns the share of the words of content of f that the supporting sentence has. Numbers, negations and what differs
// do not count.
func (f *Sentence) held() float64 {
	d := &f.Differences
	apart := map[int]bool{}
	for _, n := range d.Names {
		apart[n.Word] = true
		for _, i := range []int{n.Word - 1, n.Word + 1} {
			if i >= 0 && i < len(f.Words) && f.Words[i].Upper {
				apart[i] = true // a first name that is also a word
			}
		}
	}
	for _, n := range f.negations {
		apart[n.Word] = true
	}
	for _, p := range d.Turned {
		apart[p.Word] = true
	}
	all, has := 0, 0
	for i, w := range f.Words {
		inside := func(start, end int) bool { return start <= w.Start && w.Start < end }
		if apart[i] || !fact.Content(w) || slices.ContainsFunc(d.Rivals, func(p fact.Place) bool { return inside(p.Start, p.End) }) ||
			slices.ContainsFunc(f.Numbers, func(n fact.Number) bool { return inside(n.Start, n.End) }) {
			continue
		}
		all++
		if fact.Holds(f.Support.Words, w) {
			has++
		}
	}
	if all == 0 {
		return 0
	}
	if 0 < has && has < all && all <= short {
		has++ // one may be another word for the same
	}
	return float64(has) / float64(all)
}

// Contradicted reports whether the supporting sentence, which has enough of the other words, contradicts a sentence. What it
// states otherwise needs less of them than what is only lacking.
func (d *Differences) Contradicted(w Weights) bool {
	return d.Held >= w.Held && len(d.Numbers)+len(d.Names) > 0 || d.Held >= w.Rival && len(d.Rivals)+len(d.Denied)+len(d.Turned) > 0
}

package fact

import "slices"

// Contrast compares what a sentence and the one of the sources that supports it otherwise deny, and on which side of a pair of
// opposites they are. What both tell is told once: "not open" against "open" is denied, and "not higher" against "lower" is
// no difference.
func Contrast(s, source Sentence) (denied []Contrary, turned []Polar) {
	mine, theirs := polars(s), polars(source)
	agreed := map[string]bool{}
	for _, p := range mine {
		same, other, most := false, false, 0
		itself := slices.ContainsFunc(theirs, func(q Polar) bool { return kin(q.key, p.key) })
		for _, q := range theirs {
			common := common(p.Near, q.Near)
			if q.Pair != p.Pair || common == 0 || common < most || itself && !kin(q.key, p.key) {
				continue
			}
			if common > most {
				same, other, most = false, false, common // those with the same words around them count
			}
			same, other = same || q.Second == p.Second, other || q.Second != p.Second
			if q.Second == p.Second {
				agreed[q.key] = true
			}
		}
		if same {
			agreed[p.key] = true
		} else if other {
			turned = append(turned, p)
		}
	}
	denied = opposed(s, source, agreed)
	turned = slices.DeleteFunc(turned, func(p Polar) bool {
		return slices.ContainsFunc(denied, func(c Contrary) bool { return kin(c.Key, p.key) })
	})
	return denied, turned
}

// Contrary is a difference between a sentence and its source in what they deny.
type Contrary struct {
	Start, End int    // of the negation, in the sentence or, with Missing, in the source
	Missing    bool   // the source denies, the sentence does not
	Key        string // of the word that is denied on one side only; "" when no word was found on both
}

// Sentence is what Contrast compares.
type Sentence struct {
	Lang      string
	Words     []Word
	Negations []Negation
}

// opposed compares the negations of a sentence with those of the sentence of the sources that supports it otherwise. A negation is
// returned if the other one has none about the same words, and has those words. One of the sentence is also returned if
// the source has no negation at all. Negations of the words in agreed do not count.
func opposed(s, source Sentence, agreed map[string]bool) []Contrary {
	mine := slices.Concat(s.Negations, prefixed(s.Words, source.Words))
	theirs := slices.Concat(source.Negations, prefixed(source.Words, s.Words))
	settled := func(n Negation) bool {
		return slices.ContainsFunc(n.Negated, func(key string) bool { return agreed[key] })
	}
	var out []Contrary
	for _, n := range mine {
		if settled(n) || slices.ContainsFunc(theirs, func(m Negation) bool { return n.denies(m, source) }) {
			continue
		}
		key, found := sought(n.Near, source)
		if found || len(theirs) == 0 {
			out = append(out, Contrary{Start: n.Start, End: n.End, Key: key})
		}
	}
	for _, m := range theirs {
		if settled(m) || slices.ContainsFunc(mine, func(n Negation) bool { return m.denies(n, s) }) {
			continue
		}
		if key, found := m.lost(s, source); found {
			out = append(out, Contrary{Start: m.Start, End: m.End, Missing: true, Key: key})
		}
	}
	return out
}

// lost reports whether a sentence without the negation n of a source is about the same: it has the word that is negated, which
// the source does not also have elsewhere, or, where it may have another word for it, most of those around.
func (n Negation) lost(s, source Sentence) (key string, found bool) {
	if key, found = sought(n.Negated, s); found {
		times := 0
		for _, w := range source.Words {
			if kin(w.key, key) {
				times++
			}
		}
		return key, times < 2
	}
	has := 0
	for _, k := range n.Near {
		if _, found := sought([]string{k}, s); found {
			has++
		}
	}
	return "", has >= 2 && has+1 >= len(n.Near)
}

// denies reports whether n, of a sentence, and m, of another one, are about the same: one likely negates a word that stands near
// the other. Where the other sentence lacks the word that n negates, any word near both is enough.
func (n Negation) denies(m Negation, other Sentence) bool {
	if shared(n.Negated, m.Near) || shared(m.Negated, n.Near) {
		return true
	}
	_, found := sought(n.Negated, other)
	return !found && shared(n.Near, m.Near)
}

// Place is a part of a sentence.
type Place struct{ Start, End int }

// Neighbours reports whether a word of content beside one place also stands beside a place of other words.
func Neighbours(ws []Word, start, end int, others []Word, from, to int) bool {
	return shared(beside(ws, start, end), beside(others, from, to))
}

// beside returns the keys of the words of content around a place.
func beside(ws []Word, start, end int) []string {
	first := slices.IndexFunc(ws, func(w Word) bool { return w.End > start })
	last := first
	for last+1 < len(ws) && ws[last+1].Start < end {
		last++
	}
	after, before := around(ws, first, last)
	return slices.DeleteFunc(slices.Concat(after, before), IsUnit)
}

// sought returns the first of the keys that a sentence has.
func sought(keys []string, in Sentence) (key string, found bool) {
	for _, k := range keys {
		if slices.ContainsFunc(in.Words, func(w Word) bool { return kin(w.key, k) }) {
			return k, true
		}
	}
	return "", false
}

// common returns how many of the keys in a are in b.
func common(a, b []string) int {
	n := 0
	for _, x := range a {
		if slices.ContainsFunc(b, func(y string) bool { return kin(x, y) }) {
			n++
		}
	}
	return n
}

func shared(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return kin(x, y) })
	})
}

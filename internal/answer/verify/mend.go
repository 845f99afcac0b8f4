package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/answer/verify/fact"
)

const (
	// stays is the score from which a sentence without differences is left as it is.
	stays = 0.25
	// related is the cosine from which the nearest sentence of the sources speaks of the same, so that it may take the
	// place of one that they do not support.
	related = 0.55
	// alike is the evidence by words from which a difference is taken for an error in a sentence that is right otherwise.
	alike = 0.6
)

// mend corrects a text sentence by sentence.
func (s *Service) mend(ctx context.Context, c Claim) ([]Edit, error) {
	lang, err := languageOf(c)
	if err != nil {
		return nil, err
	}
	found, err := s.examine(ctx, c, lang)
	if err != nil {
		return nil, fmt.Errorf("correct a text: %w", err)
	}
	m := mender{text: c.Text, clean: stripCode(c.Text), every: gather(sources(c.Sources, lang)), used: map[string]bool{}, several: len(found) > 1}
	for _, f := range found {
		m.used[f.joined] = true
	}
	for i := range found {
		m.sentence(&found[i])
	}
	return m.edits, nil
}

// mender gathers the edits of a text.
type mender struct {
	text, clean string
	every       *everything
	used        map[string]bool // sentences that the text has, or has got
	several     bool            // the text has more than one sentence or item
	edits       []Edit
}

// sentence decides over one sentence.
func (m *mender) sentence(f *finding) {
	switch {
	case len(f.near) == 0:
		m.edits = append(m.edits, drop(m.text, m.clean, f.start, f.end, "There is no source that could support it."))
		return
	case f.evidence.Verbatim, f.sound() && Shipped.Score(f.evidence, f.wrong) >= stays:
		return
	}
	if f.evidence.Words >= alike && !f.completed {
		edits, rest := m.clauses(f)
		if more, ok := m.details(f, rest); ok && len(edits)+len(more) > 0 {
			m.edits = append(m.edits, append(edits, more...)...)
			return
		}
	}
	nearest := f.near[0]
	if f.evidence.Meaning >= related && !m.used[nearest.joined] && !(f.completed && m.several) {
		m.used[nearest.joined] = true
		m.edits = append(m.edits, replace(m.text, f.start, f.end, nearest.text, m.why(f)+" The nearest statement of the sources takes its place."))
		return
	}
	m.edits = append(m.edits, drop(m.text, m.clean, f.start, f.end, m.why(f)))
}

// sound reports whether nothing in a sentence contradicts or exceeds its sources. A number that stands with other words
// of the sources is no error for certain.
func (f *finding) sound() bool {
	return len(f.wrong.Numbers) == 0 && len(f.wrong.Names) == 0 && len(f.wrong.Denied) == 0
}

// why says what is wrong with a sentence.
func (m *mender) why(f *finding) string {
	var parts []string
	for _, n := range f.wrong.Numbers {
		parts = append(parts, fmt.Sprintf("the sources do not state %q", f.text[n.Start:n.End]))
	}
	for _, n := range f.wrong.Names {
		if slices.ContainsFunc(f.wrong.Numbers, func(x fact.Number) bool { return x.Start < n.End && n.Start < x.End }) {
			continue // a year is both
		}
		parts = append(parts, fmt.Sprintf("the sources do not name %q", f.text[n.Start:n.End]))
	}
	for _, d := range f.wrong.Denied {
		if d.Missing {
			parts = append(parts, fmt.Sprintf("the nearest source denies it (%q)", f.near[0].text[d.Start:d.End]))
		} else {
			parts = append(parts, fmt.Sprintf("it denies what the sources do not (%q)", f.text[d.Start:d.End]))
		}
	}
	if len(parts) == 0 {
		return "The sources do not support this statement."
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// openers begin a clause that can go without harm to what stands before it.
var openers = []string{", and ", " and ", ", but ", ", while ", ", which ", ", y ", " y ", " und ", ", und ", " et ", ", et ", " e ", ", e "}

// clauses drops the last clause of a sentence when the sources have hardly a word of it and most of the rest. rest is
// where the sentence ends then.
func (m *mender) clauses(f *finding) (edits []Edit, rest int) {
	rest = len(strings.TrimRight(f.text, ".!?。 \"'”’)"))
	at, opener := -1, ""
	for _, o := range openers {
		if i := strings.LastIndex(f.text[:rest], o); i > at || i == at && len(o) > len(opener) {
			at, opener = i, o
		}
	}
	if at < 0 {
		return nil, len(f.text)
	}
	head, tail := newSpan(f.text, 0, at, f.lang), newSpan(f.text, at+len(opener), rest, f.lang)
	if len(head.words) < 3 || len(tail.words) < 2 || m.known(tail) > 0.34 || m.known(head) < 0.6 {
		return nil, len(f.text)
	}
	why := fmt.Sprintf("The sources do not support %q.", strings.TrimSpace(tail.text))
	return []Edit{replace(m.text, f.start+at, f.start+rest, "", why)}, at
}

// known is the share of the words of content that the sources have.
func (m *mender) known(s *span) float64 {
	if len(s.stems) == 0 {
		return 1
	}
	n := 0
	for _, stem := range s.stems {
		if m.every.stems[stem] {
			n++
		}
	}
	return float64(n) / float64(len(s.stems))
}

// details mends the numbers, names and negations before byte rest of a sentence; ok is false when one of them can't be
// mended for certain.
func (m *mender) details(f *finding, rest int) (edits []Edit, ok bool) {
	for _, n := range f.wrong.Numbers {
		if n.Start >= rest {
			continue
		}
		e, sure := m.number(f, n)
		if !sure {
			return nil, false
		}
		edits = append(edits, e)
	}
	for i := 0; i < len(f.wrong.Names); {
		run := 1
		for i+run < len(f.wrong.Names) && f.wrong.Names[i+run].Word == f.wrong.Names[i].Word+run {
			run++
		}
		if f.wrong.Names[i].Start < rest {
			e, sure := m.name(f, f.wrong.Names[i:i+run])
			if !sure {
				return nil, false
			}
			edits = append(edits, e)
		}
		i += run
	}
	for _, d := range f.wrong.Denied {
		if !d.Missing && d.Start >= rest {
			continue
		}
		if d.Missing || f.lang != "eng" || f.text[d.Start:d.End] != "not" || d.Start == 0 {
			return nil, false
		}
		why := "The sources do not deny it."
		edits = append(edits, replace(m.text, f.start+d.Start-1, f.start+d.End, "", why))
	}
	return edits, true
}

// number puts the number of the nearest sentence in the place of a wrong one where it can only be this: of the same
// kind, not in the sentence already, and either the only one or between the same words.
func (m *mender) number(f *finding, n fact.Number) (Edit, bool) {
	from := f.near[0]
	var may, must []fact.Number
	for _, c := range from.numbers {
		if c.Soft || c.Percent != n.Percent || c.Month != n.Month || c.Unit != n.Unit || slices.ContainsFunc(f.numbers, c.Equal) {
			continue
		}
		may = append(may, c)
		if between(f.span, n.Start, n.End) == between(from, c.Start, c.End) {
			must = append(must, c)
		}
	}
	if len(must) == 1 {
		may = must
	}
	if len(may) != 1 {
		return Edit{}, false
	}
	with := from.text[may[0].Start:may[0].End]
	start, end := n.Start, n.End
	if tail := unitAfter(f.span, end); tail != "" && tail == unitAfter(from, may[0].End) {
		end, with = end+len(tail), with+tail // "5 bar" tells more than "5"
	}
	why := fmt.Sprintf("The source states %s: %q", strings.TrimSpace(with), from.text)
	return replace(m.text, f.start+start, f.start+end, with, why), true
}

// unitAfter is the word right behind a number with the space before it, if it is a unit or a percent sign.
func unitAfter(s *span, at int) string {
	for _, w := range s.words {
		if w.Start >= at {
			if gap := s.text[at:w.Start]; gap == " " && fact.IsUnit(w.Text) {
				return s.text[at:w.End]
			}
			break
		}
	}
	return ""
}

// between gives the beginnings of the words before and after a place.
func between(s *span, start, end int) [2]string {
	var out [2]string
	for _, w := range s.words {
		if w.End <= start {
			out[0] = fact.Key(w.Text)
		}
		if w.Start >= end {
			out[1] = fact.Key(w.Text)
			break
		}
	}
	return out
}

// name puts the names of the nearest sentence in the place of wrong ones that stand together, under the same rule.
func (m *mender) name(f *finding, wrong []fact.Name) (Edit, bool) {
	from := f.near[0]
	names := fact.Names(from.text, from.words, from.lang, everyday(from.lang))
	var may, must [][2]int
	start, end := wrong[0].Start, wrong[len(wrong)-1].End
	for i := 0; i < len(names); {
		run := 1
		for i+run < len(names) && names[i+run].Word == names[i].Word+run {
			run++
		}
		a, b := names[i].Start, names[i+run-1].End
		if !fact.HasName(names[i].Text, f.words) {
			may = append(may, [2]int{a, b})
			if between(f.span, start, end) == between(from, a, b) {
				must = append(must, [2]int{a, b})
			}
		}
		i += run
	}
	if len(must) == 1 {
		may = must
	}
	if len(may) != 1 || !sharesSide(between(f.span, start, end), between(from, may[0][0], may[0][1])) {
		return Edit{}, false
	}
	with := from.text[may[0][0]:may[0][1]]
	return replace(m.text, f.start+start, f.start+end, with, fmt.Sprintf("The source names %s: %q", with, from.text)), true
}

// sharesSide reports whether one of the words around is the same.
func sharesSide(a, b [2]string) bool {
	return a[0] != "" && a[0] == b[0] || a[1] != "" && a[1] == b[1]
}

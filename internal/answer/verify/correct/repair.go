package correct

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quarry/internal/answer/verify"
	"quarry/internal/answer/verify/fact"
	"quarry/internal/answer/verify/markup"
)

const (
	// stays is the score from which a sentence without differences is left as it is.
	stays = 0.25
	// related is the cosine from which the nearest sentence of the sources is about the same matter, so that it may take the
	// place of one that they do not support.
	related = 0.55
	// alike is the evidence by words from which a difference is taken for an error in a sentence that is right otherwise.
	alike = 0.6
)

// repair corrects a text sentence by sentence.
func (s *Service) repair(ctx context.Context, c verify.Claim) ([]Edit, error) {
	found, err := s.cfg.Verify.Examine(ctx, c)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	r := repairer{
		text: c.Text, clean: markup.StripCode(c.Text), every: verify.ReadSources(c.Sources, found[0].Lang),
		used: map[string]bool{}, several: len(found) > 1,
	}
	for _, f := range found {
		r.used[f.Joined] = true
	}
	for i := range found {
		r.sentence(&found[i])
	}
	return r.edits, nil
}

// repairer gathers the edits of a text.
type repairer struct {
	text, clean string
	every       *verify.Union
	used        map[string]bool // sentences that the text has or gets
	several     bool            // the text has several sentences or items
	edits       []Edit
}

// sentence keeps, corrects, replaces or drops one sentence.
func (r *repairer) sentence(f *verify.Sentence) {
	switch {
	case len(f.Near) == 0:
		r.edits = append(r.edits, drop(r.text, r.clean, f.Start, f.End, "There is no source that could support it."))
		return
	case f.Evidence.Verbatim && !f.Differences.Contradicted(verify.Shipped()), sound(f) && f.Score() >= stays:
		return
	}
	if f.Evidence.Words >= alike && !f.Completed {
		edits, rest := r.clauses(f)
		if more, ok := r.details(f, rest); ok && len(edits)+len(more) > 0 {
			r.edits = append(r.edits, append(edits, more...)...)
			return
		}
	}
	nearest := f.Support
	if f.Evidence.Meaning >= related && !r.used[nearest.Joined] && !(f.Completed && r.several) {
		r.used[nearest.Joined] = true
		r.edits = append(r.edits, replace(r.text, f.Start, f.End, nearest.Text, r.why(f)+" The nearest statement of the sources takes its place."))
		return
	}
	r.edits = append(r.edits, drop(r.text, r.clean, f.Start, f.End, r.why(f)))
}

// sound reports whether nothing in a sentence contradicts or exceeds its sources. A number that the sources have elsewhere is not
// certainly an error.
func sound(f *verify.Sentence) bool {
	d := f.Differences
	return len(d.Numbers)+len(d.Names)+len(d.Denied)+len(d.Turned) == 0
}

// why explains what is wrong with a sentence.
func (r *repairer) why(f *verify.Sentence) string {
	var parts []string
	for _, n := range f.Differences.Numbers {
		parts = append(parts, fmt.Sprintf("the sources do not state %q", f.Text[n.Start:n.End]))
	}
	for _, n := range f.Differences.Names {
		if slices.ContainsFunc(f.Differences.Numbers, func(x fact.Number) bool { return x.Start < n.End && n.Start < x.End }) {
			continue // a year is both
		}
		parts = append(parts, fmt.Sprintf("the sources do not name %q", f.Text[n.Start:n.End]))
	}
	for _, d := range f.Differences.Denied {
		if d.Missing {
			parts = append(parts, fmt.Sprintf("the nearest source denies it (%q)", f.Support.Text[d.Start:d.End]))
		} else {
			parts = append(parts, fmt.Sprintf("it denies what the sources do not (%q)", f.Text[d.Start:d.End]))
		}
	}
	for _, d := range f.Differences.Turned {
		parts = append(parts, fmt.Sprintf("the nearest source says the opposite of %q", f.Text[d.Start:d.End]))
	}
	if len(parts) == 0 {
		return "The sources do not support this statement."
	}
	text := strings.Join(parts, "; ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// openers begin a clause that can be dropped without harm to the words before it.
var openers = []string{", and ", " and ", ", but ", ", while ", ", which ", ", y ", " y ", " und ", ", und ", " et ", ", et ", " e ", ", e "}

// clauses drops the last clause of a sentence if the sources have hardly a word of it and most of the rest. rest is where the
// sentence then ends.
func (r *repairer) clauses(f *verify.Sentence) (edits []Edit, rest int) {
	rest = len(strings.TrimRight(f.Text, ".!?。 \"'”’)"))
	at, opener := -1, ""
	for _, o := range openers {
		if i := strings.LastIndex(f.Text[:rest], o); i > at || i == at && len(o) > len(opener) {
			at, opener = i, o
		}
	}
	if at < 0 {
		return nil, len(f.Text)
	}
	head, tail := verify.NewSpan(f.Text, 0, at, f.Lang), verify.NewSpan(f.Text, at+len(opener), rest, f.Lang)
	if len(head.Words) < 3 || len(tail.Words) < 2 || r.known(tail) > 0.34 || r.known(head) < 0.6 {
		return nil, len(f.Text)
	}
	why := fmt.Sprintf("The sources do not support %q.", strings.TrimSpace(tail.Text))
	return []Edit{replace(r.text, f.Start+at, f.Start+rest, "", why)}, at
}

// known returns the share of the words of content that the sources have.
func (r *repairer) known(s *verify.Span) float64 {
	if len(s.Stems) == 0 {
		return 1
	}
	unknown := slices.DeleteFunc(slices.Clone(s.Stems), func(stem string) bool { return r.every.Stems[stem] })
	return float64(len(s.Stems)-len(unknown)) / float64(len(s.Stems))
}

// details corrects the numbers, names and negations before byte rest of a sentence; ok is false when one of them can't be
// corrected for certain.
func (r *repairer) details(f *verify.Sentence, rest int) (edits []Edit, ok bool) {
	for _, n := range f.Differences.Numbers {
		if n.Start >= rest {
			continue
		}
		e, sure := r.number(f, n)
		if !sure {
			return nil, false
		}
		edits = append(edits, e)
	}
	for _, wrong := range runs(f.Differences.Names) {
		if wrong[0].Start >= rest {
			continue
		}
		e, sure := r.name(f, wrong)
		if !sure {
			return nil, false
		}
		edits = append(edits, e)
	}
	for _, d := range f.Differences.Denied {
		if !d.Missing && d.Start >= rest {
			continue
		}
		if d.Missing || f.Lang != "eng" || f.Text[d.Start:d.End] != "not" || d.Start == 0 {
			return nil, false
		}
		why := "The sources do not deny it."
		edits = append(edits, replace(r.text, f.Start+d.Start-1, f.Start+d.End, "", why))
	}
	return edits, !slices.ContainsFunc(f.Differences.Turned, func(d fact.Polar) bool { return d.Start < rest })
}

// runs groups the names that stand together.
func runs(names []fact.Name) (out [][]fact.Name) {
	for i, n := range names {
		if i > 0 && n.Word == names[i-1].Word+1 {
			out[len(out)-1] = append(out[len(out)-1], n)
		} else {
			out = append(out, []fact.Name{n})
		}
	}
	return out
}

// number replaces a wrong number by that of the nearest sentence if only one is possible: of the same kind, not already in the
// sentence, and either the only one or between the same words.
func (r *repairer) number(f *verify.Sentence, n fact.Number) (Edit, bool) {
	from := f.Support
	var may, must []fact.Number
	for _, c := range from.Numbers {
		if c.Soft || c.Percent != n.Percent || c.Month != n.Month || c.Unit != n.Unit || slices.ContainsFunc(f.Numbers, c.Equal) {
			continue
		}
		may = append(may, c)
		if between(f.Span, n.Start, n.End) == between(from, c.Start, c.End) {
			must = append(must, c)
		}
	}
	if len(must) == 1 {
		may = must
	}
	if len(may) != 1 {
		return Edit{}, false
	}
	with := from.Text[may[0].Start:may[0].End]
	start, end := n.Start, n.End
	if tail := unitAfter(f.Span, end); tail != "" && tail == unitAfter(from, may[0].End) {
		end, with = end+len(tail), with+tail // "5 bar" tells more than "5"
	}
	why := fmt.Sprintf("The source states %s: %q", strings.TrimSpace(with), from.Text)
	return replace(r.text, f.Start+start, f.Start+end, with, why), true
}

// unitAfter returns the word after a number with the space before it, if it is a unit or a percent sign.
func unitAfter(s *verify.Span, at int) string {
	for _, w := range s.Words {
		if w.Start >= at {
			if gap := s.Text[at:w.Start]; gap == " " && fact.IsUnit(w.Text) {
				return s.Text[at:w.End]
			}
			break
		}
	}
	return ""
}

// between returns the beginnings of the words before and after a place.
func between(s *verify.Span, start, end int) [2]string {
	var out [2]string
	for _, w := range s.Words {
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

// name replaces wrong names that stand together by those of the nearest sentence, under the same rule.
func (r *repairer) name(f *verify.Sentence, wrong []fact.Name) (Edit, bool) {
	from := f.Support
	var may, must [][2]int
	start, end := wrong[0].Start, wrong[len(wrong)-1].End
	around := between(f.Span, start, end)
	for _, run := range runs(verify.Names(from)) {
		if fact.HasName(run[0].Text, f.Words) {
			continue
		}
		at := [2]int{run[0].Start, run[len(run)-1].End}
		may = append(may, at)
		if around == between(from, at[0], at[1]) {
			must = append(must, at)
		}
	}
	if len(must) == 1 {
		may = must
	}
	if len(may) != 1 || !sharesSide(around, between(from, may[0][0], may[0][1])) {
		return Edit{}, false
	}
	with := from.Text[may[0][0]:may[0][1]]
	return replace(r.text, f.Start+start, f.Start+end, with, fmt.Sprintf("The source names %s: %q", with, from.Text)), true
}

// sharesSide reports whether one of the words around is the same.
func sharesSide(a, b [2]string) bool {
	return a[0] != "" && a[0] == b[0] || a[1] != "" && a[1] == b[1]
}

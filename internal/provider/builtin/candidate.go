package builtin

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider/builtin/passage"
	"quarry/internal/provider/builtin/question"
	"quarry/internal/text/analysis"
)

// candidate is a piece that may be quoted. Its text is a piece of its passage, byte for byte.
type candidate struct {
	passage.Piece
	text    string
	judged  string              // what is compared with the question: its text, behind the sentence without which it says little
	passage int                 // index of its passage
	place   int                 // among all candidates, which are in order of passages and texts
	alone   bool                // it is all of its passage
	aside   bool                // from before the question: it is quoted where it answers best, and not beside other answers
	own     bool                // what the user said before
	asks    bool                // it is a question or a heading, which answers nothing; what follows it may
	unfit   bool                // it leans on a sentence that is nowhere in the passages
	lead    *candidate          // what it is quoted behind; nil for none, or if text with it is what is quoted
	stems   map[string]struct{} // its terms, and those of what it belongs to if it is a value
	parts   []match             // by part of the question
	vector  []float32           // nil while it is not encoded

	standing float64 // what its passage adds to its score
}

// match is how well a candidate fits a part of the question.
type match struct {
	cosine  float64 // estimated if the sentence is not encoded
	cover   float64 // share of the terms that it holds, by weight
	context float64 // the same, including the sentence before
	around  float64 // the same, including the title, the headings and all of the passage before
	kind    float64 // more if it is of the type that is asked for, such as a number
}

func (c *candidate) holds(term string) bool {
	_, ok := c.stems[term]
	return ok
}

// cutPassages returns the pieces of the passages that may be quoted, and the questions and labels before them, in order.
func cutPassages(passages []llm.Evidence, language string) []*candidate {
	pieces := passage.Cut(passages, language)
	var out []*candidate
	at := make([]*candidate, len(pieces))
	for i, p := range pieces {
		asks := p.Kind == passage.Question || p.Kind == passage.Label
		if !asks && !p.Kind.Quotable() {
			continue
		}
		e := &passages[p.Passage]
		c := &candidate{
			Piece: p, text: p.Text, judged: judged(pieces, i), passage: p.Passage, place: len(out), alone: p.Alone,
			asks: asks || p.Text == e.Title || e.Label && !strings.Contains(strings.TrimSpace(e.Text), "\n\n"),
		}
		c.stems = stems(c.judged, language)
		if lends(&p) {
			maps.Copy(c.stems, stems(p.Term, language))
		}
		at[i] = c
		out = append(out, c)
	}
	for _, c := range out {
		if c.Leans && c.Wide == "" && c.Lead >= 0 {
			c.lead = at[c.Lead]
		}
		c.unfit = c.Leans && c.Wide == "" && c.lead == nil
	}
	return out
}

// camel matches where a name in mixed case is two words.
var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// stems returns the terms of a text; those of "bodyLimit" are also "body" and "limit".
func stems(text, language string) map[string]struct{} {
	out := map[string]struct{}{}
	if camel.MatchString(text) {
		text += "\n" + camel.ReplaceAllString(text, "$1 $2")
	}
	for _, s := range analysis.Analyze(text, language).Stems {
		out[s] = struct{}{}
	}
	return out
}

// lends reports whether a piece has the words of its term: of a name, of which it need not say that it is about it, or of what a value
// belongs to.
func lends(p *passage.Piece) bool { return p.Term != "" && (p.Named || p.Kind == passage.Item) }

// judged returns what of a piece is compared with the question. A sentence that leans on the one before it is understood behind the
// one that names what its pronoun stands for. A short value says little without what it belongs to, and a short sentence with
// a default little without the one before: "The default is 5."
func judged(pieces []passage.Piece, i int) string {
	p := &pieces[i]
	switch {
	case p.Leans && p.Before != "" && len(strings.Fields(p.Text)) > 3, short(p.Text) && p.Before != "" && p.Kind == passage.Prose && question.Defaults(p.Text):
		return antecedent(pieces, i) + " " + p.Text
	case short(p.Text) && p.Kind == passage.Item && p.Term != "":
		return p.Term + ": " + p.Text
	}
	return p.Text
}

// antecedent returns the nearest sentence before a piece that leans on no other.
func antecedent(pieces []passage.Piece, i int) string {
	p := &pieces[i]
	for range longestChain {
		if p.Lead < 0 || !pieces[p.Lead].Leans || pieces[p.Lead].Before == "" {
			break
		}
		p = &pieces[p.Lead]
	}
	return p.Before
}

// longestChain bounds how many sentences with pronouns are read back.
const longestChain = 3

// short reports whether a text may be a value that says little by itself.
func short(text string) bool { return len(strings.Fields(text)) <= 8 }

// quotation is a candidate with the text in which it is quoted: its own, or that with the sentence before it.
type quotation struct {
	*candidate
	quoted string
}

// quotations returns candidates as they are quoted, no sentence twice and as many in whatever order they come. One that leans on
// the sentence before it is quoted with that.
func quotations(chosen []*candidate) []quotation {
	covered := map[string]bool{} // sentences that are in the quotation of the one after them
	place := func(passage int, text string) string { return fmt.Sprint(passage, " ", text) }
	last := slices.SortedFunc(slices.Values(chosen), func(a, b *candidate) int { return cmp.Compare(b.place, a.place) })
	for _, c := range last {
		if c.Wide != "" && !covered[place(c.passage, c.text)] {
			covered[place(c.passage, c.Before)] = true
		}
	}
	var out []quotation
	for _, c := range chosen {
		for _, q := range []*candidate{c.lead, c} {
			if q == nil || covered[place(q.passage, q.text)] || slices.ContainsFunc(out, func(o quotation) bool { return o.candidate == q }) {
				continue
			}
			out = append(out, quotation{q, cmp.Or(q.Wide, q.text)})
		}
	}
	return out
}

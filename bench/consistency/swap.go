package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/answer/verify"
	"quarry/internal/answer/verify/fact"
	"quarry/internal/text/rarity"
)

// verbose is whether to print the sentences whose change did not lower the score.
var verbose bool

// wanted is the number of sentences to change in each way.
const wanted = 200

// supported is a sentence that was judged to be supported.
type supported struct{ text, source string }

// change is a way to falsify a sentence. apply returns "" for a sentence that it cannot change.
type change struct {
	name  string
	apply func(s supported, r *rand.Rand) string
}

// reportSwaps prints how often the score of a supported sentence falls when one fact in it is changed.
func reportSwaps(ctx context.Context, v *verify.Service, sets []*set) error {
	all := sentences(sets)
	names := namesOf(all)
	fmt.Println("one fact changed in a supported sentence, shipped weights")
	fmt.Printf("  %-44s%8s%10s%14s%12s%10s%26s\n", "", "n", "lower", "lower by .05", "mean before", "after", "from one half up to below")
	for _, c := range []change{
		{"another number", func(s supported, r *rand.Rand) string { return otherNumber(s, r, false) }},
		{"another number of the same source", func(s supported, r *rand.Rand) string { return otherNumber(s, r, true) }},
		{"a negation put in", negate},
		{"a negation taken out, the source has one", func(s supported, r *rand.Rand) string {
			if len(fact.Negations(s.source, fact.Words(s.source), "eng")) == 0 {
				return ""
			}
			return affirm(s, r)
		}},
		{"a negation taken out, any", affirm},
		{"a negation put in or, where there is one, out", func(s supported, r *rand.Rand) string {
			if len(fact.Negations(s.text, fact.Words(s.text), "eng")) == 0 {
				return negate(s, r)
			}
			if len(fact.Negations(s.source, fact.Words(s.source), "eng")) == 0 {
				return ""
			}
			return affirm(s, r)
		}},
		{"a name that the source does not have", func(s supported, r *rand.Rand) string { return otherName(s, r, names) }},
		{"harmless: words in front", func(s supported, r *rand.Rand) string { return harmlessFront(s, r) }},
		{"harmless: a word of degree", func(s supported, _ *rand.Rand) string { return harmlessWord(s) }},
		{"harmless: a number in other digits", func(s supported, _ *rand.Rand) string { return harmlessNumber(s) }},
	} {
		if err := c.report(ctx, v, all); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

func (c *change) report(ctx context.Context, v *verify.Service, all []supported) error {
	r := rand.New(rand.NewPCG(7, 11)) // the same changes in every run
	n, lower, muchLower, above, fell, before, after := 0, 0, 0, 0, 0, 0.0, 0.0
	seen := map[string]bool{}
	for _, i := range r.Perm(len(all)) {
		if n == wanted {
			break
		}
		changed := c.apply(all[i], r)
		if changed == "" || changed == all[i].text || seen[all[i].text] {
			continue
		}
		seen[all[i].text] = true
		var scores [2]float64
		for j, text := range []string{all[i].text, changed} {
			s, err := v.Score(ctx, verify.Claim{Text: text, Sources: []string{all[i].source}, Language: "eng", Any: true})
			if err != nil {
				return err
			}
			scores[j] = s.Value
		}
		n++
		before, after = before+scores[0], after+scores[1]
		if scores[1] < scores[0] {
			lower++
		}
		if verbose && (scores[1] >= scores[0] || scores[0] >= 0.5 && scores[1] >= 0.5) {
			fmt.Printf("    %.3f → %.3f\n      %s\n      %s\n", scores[0], scores[1], all[i].text, changed)
		}
		if scores[1] < scores[0]-0.05 {
			muchLower++
		}
		if scores[0] >= 0.5 {
			above++
			if scores[1] < 0.5 {
				fell++
			}
		}
	}
	m := float64(max(1, n))
	fmt.Printf("  %-44s%8d%9.1f%%%13.1f%%%12.3f%10.3f%17d of %3d\n", c.name, n, 100*float64(lower)/m, 100*float64(muchLower)/m, before/m, after/m, fell, above)
	return nil
}

// sentences returns the supported sentences of all sets.
func sentences(sets []*set) []supported {
	var out []supported
	for _, s := range sets {
		for _, c := range s.cases {
			for i, f := range c.found {
				if c.labels[i] && len(f.Words) > 4 {
					out = append(out, supported{strings.TrimSpace(c.Text[f.Start:f.End]), c.Source})
				}
			}
		}
	}
	return out
}

func otherNumber(s supported, r *rand.Rand, same bool) string {
	ws := fact.Words(s.text)
	var of []fact.Number
	for _, n := range fact.Numbers(s.text, ws, "eng") {
		if !n.Soft && !n.Month && strings.Contains(s.source, s.text[n.Start:n.End]) {
			of = append(of, n) // as the source has it
		}
	}
	if len(of) == 0 {
		return ""
	}
	n := of[r.IntN(len(of))]
	source := fact.Numbers(s.source, fact.Words(s.source), "eng")
	if same {
		var others []fact.Number
		for _, m := range source {
			if !m.Soft && !m.Month && !n.Equal(m) && !slices.ContainsFunc(of, m.Equal) {
				others = append(others, m)
			}
		}
		if len(others) == 0 {
			return ""
		}
		m := others[r.IntN(len(others))]
		return s.text[:n.Start] + s.source[m.Start:m.End] + s.text[n.End:]
	}
	for {
		v := n.Values[0]
		width := max(3, int(v/3))
		other := float64(int(v) + 1 + r.IntN(width))
		if v > 3 && r.IntN(2) == 0 {
			other = float64(max(2, int(v)-1-r.IntN(width)))
		}
		text := strconv.FormatFloat(other, 'f', -1, 64)
		if v != float64(int(v)) {
			text = strconv.FormatFloat(v+float64(1+r.IntN(9))/2, 'f', 1, 64)
		}
		if changed := s.text[:n.Start] + text + s.text[n.End:]; other != v {
			return changed
		}
	}
}

var auxiliaries = []string{"is", "are", "was", "were", "has", "have", "had", "will", "would", "can", "could", "should", "may", "must", "does", "did"}

func negate(s supported, _ *rand.Rand) string {
	ws := fact.Words(s.text)
	for i, w := range ws {
		if i+1 < len(ws) && slices.Contains(auxiliaries, w.Text) && ws[i+1].Text != "not" && ws[i+1].Text != "no" {
			return s.text[:w.End] + " not" + s.text[w.End:]
		}
	}
	return ""
}

func affirm(s supported, _ *rand.Rand) string {
	for _, w := range fact.Words(s.text) {
		switch {
		case w.Text == "not" || w.Text == "never" || w.Text == "no" && w.Start > 0:
			return strings.ReplaceAll(s.text[:w.Start]+s.text[w.End:], "  ", " ")
		case w.Text == "cannot":
			return s.text[:w.Start] + "can" + s.text[w.End:]
		case strings.HasSuffix(w.Text, "n't") && w.Text != "won't" && w.Text != "can't" && w.End-w.Start == len(w.Text):
			return s.text[:w.End-3] + s.text[w.End:]
		}
	}
	return ""
}

func everyday(w string) bool { return rarity.Known(w) }

func namesOf(all []supported) []string {
	var out []string
	for _, s := range all {
		ws := fact.Words(s.text)
		for _, n := range fact.Names(s.text, ws, "eng", everyday) {
			out = append(out, s.text[n.Start:n.End])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// otherName replaces a name that the source has by one of another sentence that it does not have.
func otherName(s supported, r *rand.Rand, names []string) string {
	ws, source := fact.Words(s.text), fact.Words(s.source)
	var of []fact.Name
	for _, n := range fact.Names(s.text, ws, "eng", everyday) {
		if fact.HasName(n.Text, source) {
			of = append(of, n)
		}
	}
	if len(of) == 0 {
		return ""
	}
	n := of[r.IntN(len(of))]
	for {
		other := names[r.IntN(len(names))]
		if !fact.HasName(strings.ToLower(other), source) && !strings.Contains(strings.ToLower(s.source), strings.ToLower(other)) {
			return s.text[:n.Start] + other + s.text[n.End:]
		}
	}
}

func harmlessFront(s supported, r *rand.Rand) string {
	fronts := []string{"In other words, ", "According to the text, ", "It is said that ", "As described, "}
	return fronts[r.IntN(len(fronts))] + strings.ToLower(s.text[:1]) + s.text[1:]
}

func harmlessWord(s supported) string {
	for _, w := range fact.Words(s.text) {
		if slices.Contains(auxiliaries, w.Text) {
			return s.text[:w.End] + " indeed" + s.text[w.End:]
		}
	}
	return ""
}

var spelledOut = []string{"", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}

func harmlessNumber(s supported) string {
	for _, n := range fact.Numbers(s.text, fact.Words(s.text), "eng") {
		v := n.Values[0]
		if n.Soft || n.Month || len(n.Values) > 1 || v != float64(int(v)) {
			continue
		}
		switch {
		case v >= 2 && v <= 12 && s.text[n.Start] <= '9':
			return s.text[:n.Start] + spelledOut[int(v)] + s.text[n.End:]
		case v >= 2 && v <= 12:
			return s.text[:n.Start] + strconv.Itoa(int(v)) + s.text[n.End:]
		}
	}
	return ""
}

package confidence_test

import (
	"math"
	"strings"
	"testing"

	"quarry/internal/provider/builtin/confidence"
)

// pump are sentences of two passages; the first of them answers.
func pump(question string) (*confidence.Reading, []int) {
	s := []confidence.Sentence{
		{Text: "The filter of the pump is replaced every 500 hours.", Cover: 0.9, Context: 0.9, Around: 0.9, Cosine: 0.8, Standing: 1, Score: 1.4},
		{Text: "A dirty filter makes it loud.", Cover: 0.3, Context: 0.9, Around: 0.9, Cosine: 0.4, Standing: 1, Score: 0.8},
		{Text: "The office opens at nine.", Passage: 1, Cosine: 0.1, Standing: 0.4, Score: 0.2},
	}
	return confidence.Read(question, "eng", true, s), []int{0, 1, 2}
}

// Proves that features lie between their bounds for anything that may be asked or found.
func TestFeaturesBounded(t *testing.T) {
	t.Parallel()
	texts := []string{"", " ", "?", "((((", "😀😀", strings.Repeat("word ", 5000), strings.Repeat("水", 3000), "\xff\xfe", "ก ข ค", "How often is the filter of the pump replaced?", "\u0301\u0301"}
	for _, question := range texts {
		for _, text := range texts {
			for _, passages := range []int{1, 2, 5} {
				var all []confidence.Sentence
				var order []int
				for i := range 7 {
					all = append(all, confidence.Sentence{Text: text, About: text, Passage: i * passages / 7, Cover: 0.5, Score: 1 / float64(i+1)})
					order = append(order, i)
				}
				r := confidence.Read(question, "eng", true, all)
				for i := range order {
					f := r.Features(order, i)
					for k, x := range f.Vector() {
						if math.IsNaN(x) || x < 0 || x > 1+1e-9 {
							t.Fatalf("%.20q in %.20q: feature %d is %v", question, text, k, x)
						}
					}
					if p := confidence.Right(f); math.IsNaN(p) || p < 0 || p > 1 {
						t.Fatalf("%.20q in %.20q: %v", question, text, p)
					}
				}
			}
		}
	}
}

// Proves that what a sentence and its passage hold of a question is counted: with the sentence before, and beside other passages.
func TestFeatures(t *testing.T) {
	t.Parallel()
	r, order := pump("How often is the filter of the pump replaced?")
	first, second, last := r.Features(order, 0), r.Features(order, 1), r.Features(order, 2)
	if !first.Learned || first.Closest != 0.8 || second.Closest != 0.8 {
		t.Errorf("closest: %+v", first)
	}
	if first.Runs < 0.5 || second.Runs < first.Runs || last.Runs > 0.2 {
		t.Errorf("runs: %v, %v with the sentence before, %v", first.Runs, second.Runs, last.Runs)
	}
	if first.Other > 0.2 || last.Other < 0.5 || first.Passage < first.Runs {
		t.Errorf("passages: %v and %v, %v elsewhere", first.Passage, last.Passage, first.Other)
	}
	if first.Pairs == 0 || second.Pairs != 0 {
		t.Errorf("pairs: %v, %v", first.Pairs, second.Pairs)
	}
	if first.Lead < 0.8 || last.Lead != 0.2 {
		t.Errorf("lead: %v, %v", first.Lead, last.Lead)
	}
}

// Proves that the estimates rise with what speaks for a sentence, and that refusing is as strict as its language has it.
func TestMonotone(t *testing.T) {
	t.Parallel()
	for _, learned := range []bool{true, false} {
		least, most := confidence.Features{Learned: learned}, confidence.Features{
			Cover: 1, Context: 1, Around: 1, Runs: 1, Passage: 1, Pairs: 1, Cosine: 0.9, Closest: 0.9, Lead: 1, Standing: 1, Kind: 0.2, Learned: learned,
		}
		last := 0.0
		for i := range 11 {
			share := float64(i) / 10
			p := confidence.Right(mix(least, most, share))
			if p <= last {
				t.Errorf("learned %v: %v at %v, %v before", learned, p, share, last)
			}
			last = p
		}
		if last < 0.9 || confidence.Right(least) > 0.2 {
			t.Errorf("learned %v: from %v to %v", learned, confidence.Right(least), last)
		}
		for _, language := range []string{"eng", "deu", "zho", "vie"} {
			if confidence.Held([]confidence.Features{least}, language) || !confidence.Held([]confidence.Features{most}, language) {
				t.Errorf("learned %v: %s is not told apart", learned, language)
			}
		}
	}
}

// mix returns features between two.
func mix(a, b confidence.Features, share float64) confidence.Features {
	between := func(x, y float64) float64 { return x + share*(y-x) }
	return confidence.Features{
		Cover: between(a.Cover, b.Cover), Context: between(a.Context, b.Context), Around: between(a.Around, b.Around), Runs: between(a.Runs, b.Runs),
		Passage: between(a.Passage, b.Passage), Pairs: between(a.Pairs, b.Pairs), Cosine: between(a.Cosine, b.Cosine), Closest: between(a.Closest, b.Closest),
		Lead: between(a.Lead, b.Lead), Standing: between(a.Standing, b.Standing), Kind: between(a.Kind, b.Kind), Learned: a.Learned,
	}
}

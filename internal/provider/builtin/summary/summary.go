// Package summary chooses the sentences of a document that say most of what is in it, word for word. It writes nothing: what a
// document does not say in a sentence is not in its summary.
//
// A sentence is central if it is similar to all others. That is the degree centrality of LexRank (Erkan and Radev, "LexRank:
// Graph-based Lexical Centrality as Salience in Text Summarization", 2004) without a threshold, so the sum over all others is one
// product with their centroid, as in MEAD (Radev, Jing, Styś and Tam, "Centroid-based summarization of multiple documents",
// 2004), and a document takes time in proportion to its length. Similar sentences and sections that are in the summary already
// count against a further one, as in maximal marginal relevance (Carbonell and Goldstein, 1998).
//
// The same document gives the same summary. Package builtin calls it.
package summary

import (
	"math"
	"slices"

	"quarry/internal/llm"
)

// Sentence is a sentence of a document, byte for byte.
type Sentence struct {
	Text    string
	Passage int // its index
	Section int
}

// Bounds of a summary, in sentences. mostLabels is for documents of nothing but titles and tables.
const (
	fewest     = 3
	most       = 7
	mostLabels = 3
)

// Choose returns the sentences of a summary in reading order, none for a document without words. The passages are those of one
// document in reading order; passages with Label are left out if there is anything else. language is ISO 639-3. fits
// reports whether some sentences are short enough together, and cut whether one had to go for that. One is chosen in any case:
// where none fits, the best.
func Choose(document []llm.Evidence, language string, fits func([]Sentence) bool) (chosen []Sentence, cut bool) {
	d := read(document, language)
	if len(d.pool) == 0 {
		return d.labels(document, fits)
	}
	d.weigh(document, language)
	picked, cut := d.pick(document, fits)
	slices.SortFunc(picked, func(a, b *candidate) int { return a.place - b.place })
	for _, c := range picked {
		chosen = append(chosen, c.Sentence)
	}
	return chosen, cut
}

// labels returns the first titles and rows of a document that has nothing else.
func (d *reading) labels(document []llm.Evidence, fits func([]Sentence) bool) (chosen []Sentence, cut bool) {
	for i, p := range document {
		for _, piece := range pieces(p.Text) {
			next := append(chosen, Sentence{piece.text, i, p.Section})
			switch {
			case len(chosen) == mostLabels:
				return chosen, false
			case len(chosen) > 0 && !fits(next):
				return chosen, true
			}
			chosen = next
		}
	}
	return chosen, len(chosen) > 0 && !fits(chosen)
}

// size returns how many sentences a summary has: more for a longer document, if possible one for each section, and at most half
// of the sentences there are.
func (d *reading) size() int {
	n := len(d.pool)
	sections := map[int]bool{}
	for _, c := range d.pool {
		sections[c.Section] = true
	}
	byLength := fewest + int(math.Round(2*math.Log10(math.Max(float64(n)/10, 1))))
	return min(max(byLength, len(sections)), most, max(fewest, n/2), n)
}

// What counts against a sentence, beside its centrality from 0 to 1: how similar it is to one in the summary, and each one there
// of its section and of its stretch, which is as long as all others.
const (
	repeatCost  = 0.6
	sectionCost = 0.35
	stretchCost = 0.2
)

// pick returns the candidates of the summary, best first.
func (d *reading) pick(document []llm.Evidence, fits func([]Sentence) bool) (picked []*candidate, cut bool) {
	size := d.size()
	sections, stretches := map[int]float64{}, make([]float64, size)
	stretch := func(c *candidate) int { return c.place * size / d.places }
	repeats := make([]float64, len(d.pool))
	var texts []Sentence
	for len(picked) < size {
		best, top := -1, math.Inf(-1)
		for i, c := range d.pool {
			gain := c.value - repeatCost*repeats[i] - sectionCost*sections[c.Section] - stretchCost*stretches[stretch(c)]
			if !c.picked && gain > top {
				best, top = i, gain
			}
		}
		c := d.pool[best]
		if !fits(append(texts, c.Sentence)) {
			if len(picked) > 0 {
				return picked, true
			}
			cut = true
			if c = d.short(fits); c == nil {
				return []*candidate{d.pool[best]}, true
			}
		}
		c.picked = true
		picked, texts = append(picked, c), append(texts, c.Sentence)
		sections[c.Section]++
		stretches[stretch(c)]++
		for i, other := range d.pool {
			repeats[i] = max(repeats[i], d.similarity(document, c, other))
		}
	}
	return picked, cut
}

// short returns the best candidate that is short enough by itself, nil if there is none.
func (d *reading) short(fits func([]Sentence) bool) (best *candidate) {
	for _, c := range d.pool {
		if (best == nil || c.value > best.value) && fits([]Sentence{c.Sentence}) {
			best = c
		}
	}
	return best
}

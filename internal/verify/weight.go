package verify

import "math"

// Weights turn evidence into the logarithm of odds. Those shipped were fitted by bench/consistency.
type Weights struct {
	Bias, Meaning, Words, Rare, Together, Pairs float64
	Number, Astray, Name, Denied                float64 // taken off for each difference
	Most                                        float64 // the most that differences of a kind take off
	Copied                                      float64 // what a sentence that stands in a source has at the least
	Least                                       float64 // share of the lowest sentence in the score of a text; the rest is the mean
}

// Shipped are the weights in use.
var Shipped = Weights{
	Bias: -6.2, Meaning: 1.6, Words: 1.9, Rare: 1.7, Together: 1.8, Pairs: 1.0,
	Number: 1.6, Astray: 0.5, Name: 1.5, Denied: 1.7, Most: 3.4, Copied: 3.2, Least: 0.5,
}

// Score is the probability that a sentence with this evidence and these differences is supported.
func (w *Weights) Score(e Evidence, d Differences) float64 {
	z := w.Bias + w.Meaning*e.Meaning + w.Words*e.Words + w.Rare*e.Rare + w.Together*e.Together + w.Pairs*e.Pairs
	if e.Verbatim {
		z = max(z, w.Copied)
	}
	z -= min(w.Most, w.Number*float64(len(d.Numbers))+w.Astray*float64(d.Astray))
	z -= min(w.Most, w.Name*float64(len(d.Names)))
	z -= min(w.Most, w.Denied*float64(len(d.Denied)))
	return 1 / (1 + math.Exp(-z))
}

// Text is the score of a text from those of its sentences and how many words each has.
func (w *Weights) Text(scores []float64, words []int) float64 {
	if len(scores) == 0 {
		return highest
	}
	sum, n, least := 0.0, 0.0, 1.0
	for i, s := range scores {
		k := math.Sqrt(float64(words[i]))
		sum, n = sum+k*s, n+k
		if words[i] > 2 || len(scores) == 1 { // "In short:" says nothing
			least = min(least, s)
		}
	}
	v := w.Least*least + (1-w.Least)*sum/n
	return min(highest, max(lowest, v))
}

// total is the score of a text.
func total(found []finding) float64 {
	scores, words := make([]float64, len(found)), make([]int, len(found))
	for i, f := range found {
		words[i] = len(f.words)
		if len(f.near) > 0 {
			scores[i] = Shipped.Score(f.evidence, f.wrong)
		}
	}
	return Shipped.Text(scores, words)
}

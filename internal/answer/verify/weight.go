package verify

import "math"

// Weights turn evidence into the logarithm of odds. Those shipped were fitted by bench/consistency.
type Weights struct {
	Bias, Meaning, Words, Rare, Together, Pairs float64
	Number, Astray, Name, Denied                float64 // taken off for each difference
	Most                                        float64 // the most that differences of a kind take off
	Far, Close                                  float64 // Words at which differences hardly count, and count once; at 1 they count more than twice
	Copied                                      float64 // the least for a sentence that stands in a source
	Least                                       float64 // share of the lowest sentence in the score of a text; the rest is the mean
}

// Shipped returns the weights in use.
func Shipped() Weights { return shipped }

var shipped = Weights{
	Bias: -2.927, Meaning: 0.888, Words: 1.107, Rare: 1.042, Together: 0.972, Pairs: 0.737,
	Number: 1.5, Astray: 0.15, Name: 0.9, Denied: 1.5, Most: 5, Far: 0.65, Close: 0.88, Copied: 3.2, Least: 0.5,
}

// Score is the probability that a sentence with this evidence and these differences is supported.
func (w Weights) Score(e Evidence, d Differences) float64 {
	z := w.Bias + w.Meaning*e.Meaning + w.Words*e.Words + w.Rare*e.Rare + w.Together*e.Together + w.Pairs*e.Pairs
	if e.Verbatim {
		z = max(z, w.Copied)
	}
	z -= w.against(e, d)
	return 1 / (1 + math.Exp(-z))
}

// against returns what differences take off. They mean little if the source is about something else anyway, so they count more
// the nearer it is.
func (w Weights) against(e Evidence, d Differences) float64 {
	z := min(w.Most, w.Number*float64(len(d.Numbers))+w.Astray*float64(d.Astray))
	z += min(w.Most, w.Name*math.Sqrt(float64(len(d.Names))))
	z += min(w.Most, w.Denied*math.Sqrt(float64(len(d.Denied))))
	near := max(0, (e.Words-w.Far)/(w.Close-w.Far))
	return z * min(3, max(0.1, near*near))
}

// Text is the score of a text from those of its sentences and how many words each has.
func (w Weights) Text(scores []float64, words []int) float64 {
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
func total(found []Sentence) float64 {
	scores, words := make([]float64, len(found)), make([]int, len(found))
	for i, f := range found {
		words[i] = len(f.Words)
		scores[i] = f.Score()
	}
	return shipped.Text(scores, words)
}

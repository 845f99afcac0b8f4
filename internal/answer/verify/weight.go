package verify

import "math"

// Weights turn evidence into the logarithm of odds. Those shipped were fitted by bench/consistency.
type Weights struct {
	Bias, Meaning, Words, Rare, Together, Pairs float64
	Number, Astray, Name, Denied, Turned        float64 // taken off for each difference
	Most                                        float64 // the most that differences of a kind take off
	Far, Close                                  float64 // Words at which differences hardly count, and count once; at 1 they count more than twice
	Floor                                       float64 // how much Denied and Turned count at least
	Contradicted                                float64 // the least that is taken off where the supporting sentence contradicts
	Held, Rival                                 float64 // share of the other words that it must have for that: if something is lacking, and if it states it otherwise
	Copied                                      float64 // the least for a sentence that stands in a source
	Least                                       float64 // share of the lowest sentence in the score of a text; the rest is the mean
}

// Shipped returns the weights in use.
func Shipped() Weights { return shipped }

var shipped = Weights{
	Bias: -2.984, Meaning: 0.937, Words: 1.168, Rare: 1.098, Together: 1.025, Pairs: 0.777,
	Number: 1.5, Astray: 0.15, Name: 0.6, Denied: 1.26, Turned: 1.08, Most: 5, Far: 0.65, Close: 0.88, Floor: 0.5,
	Contradicted: 2.4, Held: 0.9, Rival: 0.7, Copied: 3.2, Least: 0.5,
}

// Score is the probability that a sentence with this evidence and these differences is supported.
func (w Weights) Score(e Evidence, d Differences) float64 {
	z := w.Bias + w.Meaning*e.Meaning + w.Words*e.Words + w.Rare*e.Rare + w.Together*e.Together + w.Pairs*e.Pairs
	off := w.against(e, d)
	if d.Contradicted(w) {
		off = max(off, w.Contradicted)
	} else if e.Verbatim {
		z = max(z, w.Copied)
	}
	return 1 / (1 + math.Exp(off-z))
}

// against returns what differences take off. They mean little if the source is about something else anyway, so they count more
// the nearer it is; what it denies or turns into the opposite counts from the beginning, since it speaks of the same words.
func (w Weights) against(e Evidence, d Differences) float64 {
	lacking := min(w.Most, w.Number*float64(len(d.Numbers))+w.Astray*float64(d.Astray))
	lacking += min(w.Most, w.Name*math.Sqrt(float64(len(d.Names))))
	opposed := min(w.Most, w.Denied*math.Sqrt(float64(len(d.Denied)))) + min(w.Most, w.Turned*math.Sqrt(float64(len(d.Turned))))
	near := max(0, (e.Words-w.Far)/(w.Close-w.Far))
	near = min(3, near*near)
	return lacking*max(0.1, near) + opposed*max(w.Floor, near)
}

// Text is the score of a text. Sentences make up for one another, but not for one that the sources contradict.
func (w Weights) Text(found []Sentence) float64 {
	if len(found) == 0 {
		return highest
	}
	sum, n, least, most := 0.0, 0.0, 1.0, highest
	for _, f := range found {
		s, k := f.by(w), math.Sqrt(float64(len(f.Words)))
		sum, n = sum+k*s, n+k
		if len(f.Words) > 2 || len(found) == 1 { // "In short:" says nothing
			least = min(least, s)
		}
		if f.Differences.Contradicted(w) {
			most = min(most, s)
		}
	}
	v := w.Least*least + (1-w.Least)*sum/n
	return min(most, max(lowest, v))
}

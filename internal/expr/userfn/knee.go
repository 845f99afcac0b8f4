package userfn

import (
	"cmp"
	"slices"
)

// knee keeps the results above the largest drop of the scores, if it is large enough (contract: rerankers.md section 7).
// Both settings are in [0, 1]: sensitivity lowers the size that a drop must have, and earlyBias prefers early drops.
type knee struct{ sensitivity, earlyBias float64 }

var defaultKnee = knee{0.5, 0.2}

// keptOf is kept for scores that came in bands, which end at the given numbers of scores. Each band is judged by the scores so
// far. Behind a band that was cut, nothing is kept.
func (k knee) keptOf(scores []float64, bands []int) []bool {
	out, from := make([]bool, len(scores)), 0
	for _, to := range bands {
		copy(out[from:to], k.kept(scores[:to])[from:])
		if slices.Contains(out[from:to], false) {
			break
		}
		from = to
	}
	return out
}

// kept reports for each score whether it is kept. The best score always is.
func (k knee) kept(scores []float64) []bool {
	out := make([]bool, len(scores))
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order[:k.count(scores, order)] {
		out[i] = true
	}
	return out
}

// count returns how many of the scores are kept; order sorts them in descending order.
func (k knee) count(scores []float64, order []int) int {
	n := len(order)
	if n < 3 {
		return n
	}
	at := func(i int) float64 { return scores[order[i]] }
	// Scores are halved, so that the spread cannot overflow.
	spread := at(0)/2 - at(n-1)/2
	if !(spread > 0) {
		return n
	}
	best, weight, gap := n, -1.0, 0.0
	for i := range n - 1 {
		g := (at(i)/2 - at(i+1)/2) / spread
		w := g * (1 + k.earlyBias*(1-float64(i)/float64(n-1)))
		if w > weight {
			best, weight, gap = i+1, w, g
		}
	}
	if gap < 0.5*(1-k.sensitivity) {
		return n
	}
	return best
}

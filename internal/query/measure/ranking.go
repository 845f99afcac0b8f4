// Package measure computes metrics of rankings and of binary classifiers. It is pure: lists and judgements in, numbers
// out. Package evaluate and the benchmarks call it.
package measure

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Judgements maps a document id to its grade. 0 and absent both mean not relevant.
type Judgements map[string]int

// Relevant returns the number of documents with a grade above 0.
func (j Judgements) Relevant() int {
	n := 0
	for _, g := range j {
		if g > 0 {
			n++
		}
	}
	return n
}

// NDCG returns the normalised discounted cumulative gain of the first k of ranked, with the grade itself as gain and
// log2(rank+1) as discount, as trec_eval computes it (Järvelin and Kekäläinen 2002); 0 when nothing is relevant.
func NDCG(ranked []string, j Judgements, k int) float64 {
	var grades []int
	for _, g := range j {
		if g > 0 {
			grades = append(grades, g)
		}
	}
	slices.SortFunc(grades, func(a, b int) int { return cmp.Compare(b, a) })
	best := 0.0
	for i, g := range grades[:min(k, len(grades))] {
		best += float64(g) / math.Log2(float64(i+2))
	}
	if best == 0 {
		return 0
	}
	gain := 0.0
	for i, id := range ranked[:min(k, len(ranked))] {
		gain += float64(max(0, j[id])) / math.Log2(float64(i+2))
	}
	return gain / best
}

// Recall returns the share of relevant documents among the first k of ranked; 0 when nothing is relevant.
func Recall(ranked []string, j Judgements, k int) float64 {
	n := j.Relevant()
	if n == 0 {
		return 0
	}
	hit := 0
	for _, id := range ranked[:min(k, len(ranked))] {
		if j[id] > 0 {
			hit++
		}
	}
	return float64(hit) / float64(n)
}

// ReciprocalRank returns 1/rank of the first relevant document among the first k of ranked, else 0.
func ReciprocalRank(ranked []string, j Judgements, k int) float64 {
	for i, id := range ranked[:min(k, len(ranked))] {
		if j[id] > 0 {
			return 1 / float64(i+1)
		}
	}
	return 0
}

// Percentile returns the value at share p (0..1) of sorted durations by nearest rank; 0 for no durations.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

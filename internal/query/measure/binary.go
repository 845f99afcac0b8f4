package measure

import (
	"cmp"
	"slices"
)

// AUROC returns the share of pairs of a positive and a negative example in which the positive one has the higher score,
// ties counting half; 0.5 when there is no pair.
func AUROC(scores []float64, positive []bool) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	below, won, negatives := 0.0, 0.0, 0.0
	for i := 0; i < len(order); {
		j, p, n := i, 0.0, 0.0
		for ; j < len(order) && scores[order[j]] == scores[order[i]]; j++ {
			if positive[order[j]] {
				p++
			} else {
				n++
			}
		}
		won += p * (below + n/2)
		below, negatives, i = below+n, negatives+n, j
	}
	positives := float64(len(scores)) - negatives
	if positives == 0 || negatives == 0 {
		return 0.5
	}
	return won / (positives * negatives)
}

// BalancedAccuracy returns the mean of the share of positives that score at least threshold and the share of negatives that
// score less; a class without examples counts as half right.
func BalancedAccuracy(scores []float64, positive []bool, threshold float64) float64 {
	right, all := [2]float64{}, [2]float64{}
	for i, s := range scores {
		class := 0
		if positive[i] {
			class = 1
		}
		all[class]++
		if (s >= threshold) == positive[i] {
			right[class]++
		}
	}
	sum := 0.0
	for c := range all {
		if all[c] == 0 {
			sum += 0.5
			continue
		}
		sum += right[c] / all[c]
	}
	return sum / 2
}

package rerank

import "math"

// The lexical score is LexicalScale·s/(s+LexicalHalf) of a BM25 score s: the order of BM25, on a scale on which the
// published values of λ mean what their guidance says (docs/decisions/0005-fusion.md).
const (
	LexicalScale = 72
	LexicalHalf  = 16
)

// curves are the constants of the calibration by lexical share: the probability of being relevant is
// 1/(1+exp(-(a+b·unit))). Fitted on training queries alone; `go run ./bench/ranking` derives them and reports how the
// scores do on the others (docs/benchmarks.md).
var curves = [...]struct{ share, a, b float64 }{
	{0.00, -9.07, 12.84},
	{0.25, -9.52, 14.42},
	{0.50, -9.66, 15.29},
	{0.65, -9.52, 15.22},
	{0.80, -9.19, 14.65},
	{1.00, -8.52, 13.20},
}

// Calibrated maps what retrieval knows of a result to the score of the default reranker: the probability that it is
// relevant, so that a cutoff means the same for every query. For one λ it rises with the retrieval score, so the
// order of retrieval stays.
func Calibrated(s Signals) float64 {
	highest := LexicalScale*s.Lambda + 1 - s.Lambda
	share, unit := LexicalScale*s.Lambda/highest, s.Score/highest
	i := 1
	for i < len(curves)-1 && curves[i].share < share {
		i++
	}
	lo, hi := curves[i-1], curves[i]
	t := (share - lo.share) / (hi.share - lo.share)
	a, b := lo.a+t*(hi.a-lo.a), lo.b+t*(hi.b-lo.b)
	return 1 / (1 + math.Exp(-a-b*unit))
}

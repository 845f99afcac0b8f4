package rerank

import "math"

// The lexical score is LexicalScale·s/(s+LexicalHalf) of a BM25 score s: the order of BM25, on a scale on which the
// published values of λ mean what their guidance says (docs/decisions/0005-fusion.md).
const (
	LexicalScale = 72
	LexicalHalf  = 16
)

// EvenOdds is the logarithm of the odds against a candidate of the training queries: one in twenty is relevant. Taking it
// off the fitted odds leaves what the match itself says, so that half is where relevant and not are equally likely,
// which is what published cutoffs of 0.3 to 0.7 expect.
const EvenOdds = 2.93

// curves are the constants of the calibration by lexical share: the probability of being relevant, among candidates like
// those of the training queries, is 1/(1+exp(-(a+b·unit))), where unit is the retrieval score as a share of the highest
// that query and corpus allow. Fitted on training queries alone; `go run ./bench/ranking` derives them and EvenOdds, and
// reports how the scores do on the others (docs/benchmarks.md).
var curves = [...]struct{ share, a, b float64 }{
	{0.00, -6.87, 9.45},
	{0.25, -7.71, 11.08},
	{0.50, -7.62, 10.57},
	{0.65, -7.26, 9.58},
	{0.80, -6.78, 8.38},
	{1.00, -6.07, 6.67},
}

// Calibrated maps what retrieval knows of a result to the score of the default reranker: how probable it would be that
// the result is relevant if half of the candidates were, so that a cutoff means the same for every query and corpus. For
// one λ it rises with the retrieval score, so the order of retrieval stays.
func Calibrated(s Signals) float64 {
	dense, lexical := 1-s.Lambda, LexicalScale*s.Lambda
	// BM25 grows with the words of the query and the size of the corpus; what it can reach tells by how much.
	highest := dense + lexical*s.Most/(s.Most+LexicalHalf)
	if highest == 0 {
		return 0 // nothing can match
	}
	share, unit := lexical/(lexical+dense), s.Score/highest
	i := 1
	for i < len(curves)-1 && curves[i].share < share {
		i++
	}
	lo, hi := curves[i-1], curves[i]
	t := (share - lo.share) / (hi.share - lo.share)
	a, b := lo.a+t*(hi.a-lo.a), lo.b+t*(hi.b-lo.b)
	return 1 / (1 + math.Exp(-EvenOdds-a-b*unit))
}

package rerank

import "math"

// The lexical score of a BM25 score s is LexicalScale·s/(s+LexicalHalf). It keeps the order of BM25 and puts it on a scale
// on which the published guidance for λ holds (docs/decisions/0005-fusion.md).
const (
	LexicalScale = 72
	LexicalHalf  = 16
)

// Balance is added to the fitted log odds so that one half is the best cutoff: there, the F2 of the first ten results of
// training queries, averaged over the collections, is highest (recall weighs twice, since a missing passage costs more
// than a superfluous one). Few candidates are relevant, so a cutoff at even odds would leave most queries without results;
// published cutoffs are 0.3 to 0.7.
const Balance = 1.9

// curves are the constants of the calibration by lexical share (Platt scaling): among candidates like those of the
// training queries, the probability of being relevant is 1/(1+exp(-(a+b·unit))), where unit is the retrieval score as a
// share of that of a full match: cosine 1, and the BM25 of a part of mean length that has every term once. They are fitted
// on training queries alone; `go run ./bench/ranking` derives them and Balance and reports the quality on the other
// queries (docs/benchmarks.md).
var curves = [...]struct{ share, a, b float64 }{
	{0.00, -6.87, 9.45},
	{0.25, -7.83, 10.89},
	{0.50, -8.03, 10.52},
	{0.65, -7.83, 9.60},
	{0.80, -7.39, 8.27},
	{1.00, -6.42, 5.97},
}

// Calibrated returns the score of the default reranker: the probability that a result is relevant, shifted by Balance, so
// that a cutoff means the same for every query and corpus. For one λ it increases with the retrieval score and so keeps
// the order of retrieval.
func Calibrated(s Signals) float64 {
	dense, lexical := 1-s.Lambda, LexicalScale*s.Lambda
	// BM25 grows with the words of the query and the size of the corpus; a full match shows by how much.
	highest := dense + lexical*s.Full/(s.Full+LexicalHalf)
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
	return 1 / (1 + math.Exp(-Balance-a-b*unit))
}

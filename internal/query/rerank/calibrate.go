package rerank

import "math"

// The lexical score is LexicalScale·s/(s+LexicalHalf) of a BM25 score s: the order of BM25, on a scale on which the
// published values of λ mean what their guidance says (docs/decisions/0005-fusion.md).
const (
	LexicalScale = 72
	LexicalHalf  = 16
)

// Balance is added to the fitted log odds, so that a half is where a cutoff serves best: the mean over the collections of
// F2 (recall weighs twice, for a missing passage costs more than one too many) among the first ten results of training
// queries is highest there. Few candidates are relevant, so a cutoff at even odds of the fit would leave most queries
// without an answer; published cutoffs are 0.3 to 0.7.
const Balance = 1.9

// curves are the constants of the calibration by lexical share: the probability of being relevant, among candidates like
// those of the training queries, is 1/(1+exp(-(a+b·unit))), where unit is the retrieval score as a share of that of a
// full match: cosine 1, and the BM25 of a part of mean length that has every term once. Fitted on training queries alone; `go run ./bench/ranking` derives them and Balance, and
// reports how the scores do on the others (docs/benchmarks.md).
var curves = [...]struct{ share, a, b float64 }{
	{0.00, -6.87, 9.45},
	{0.25, -7.83, 10.89},
	{0.50, -8.03, 10.52},
	{0.65, -7.83, 9.60},
	{0.80, -7.39, 8.27},
	{1.00, -6.42, 5.97},
}

// Calibrated maps what retrieval knows of a result to the score of the default reranker: the probability that it is
// relevant, moved by Balance, so that a cutoff means the same for every query and corpus. For one λ it rises with the
// retrieval score, so the order of retrieval stays.
func Calibrated(s Signals) float64 {
	dense, lexical := 1-s.Lambda, LexicalScale*s.Lambda
	// BM25 grows with the words of the query and the size of the corpus; what a full match has tells by how much.
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

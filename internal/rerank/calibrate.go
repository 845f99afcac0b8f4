package rerank

// calibrated maps what retrieval knows of a result to the score of the default reranker: 0..1, comparable between
// queries. For one set of weights it never decreases with the retrieval score, so the order of retrieval stays.
func calibrated(s Signals) float64 { return min(1, max(0, s.Unit)) }

package data

import (
	"math/rand/v2"
	"slices"

	"quarry/internal/text/analysis"
)

// Words returns the scoring terms of texts, as the service analyses English.
func Words(texts []string) [][]string {
	out := make([][]string, len(texts))
	_ = each(len(texts), func(i int) error { // analysis has no errors
		out[i] = analysis.Analyze(texts[i], "eng").Stems
		return nil
	})
	return out
}

// Draw returns n queries of so many distinct terms, each of them from one passage, in their order there.
func Draw(words [][]string, n, terms int) (queries [][]string) {
	r := rand.New(rand.NewPCG(uint64(terms), 1))
	for tries := 0; len(queries) < n && tries < 100*n; tries++ {
		var distinct []string
		for _, w := range words[r.IntN(len(words))] {
			if !slices.Contains(distinct, w) {
				distinct = append(distinct, w)
			}
		}
		if len(distinct) < terms {
			continue
		}
		some := r.Perm(len(distinct))[:terms]
		slices.Sort(some)
		query := make([]string, terms)
		for i, at := range some {
			query[i] = distinct[at]
		}
		queries = append(queries, query)
	}
	return queries
}

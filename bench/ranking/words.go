package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"quarry/internal/query/evaluate"
	"quarry/internal/query/measure"
)

// rankWords returns the nDCG@10 of the baseline: words in lower case, split at white space and ranked by BM25 (k1 1.2,
// b 0.75) as in the product, with the title counted twice. No language should do worse in the product.
func rankWords(d *evaluate.Dataset) float64 {
	split := func(s string) []string { return strings.Fields(strings.ToLower(s)) }
	lists, lengths, sum := map[string]map[int]float64{}, make([]float64, len(d.Documents)), 0.0
	for i, r := range d.Documents {
		add := func(words []string, times float64) {
			for _, w := range words {
				if lists[w] == nil {
					lists[w] = map[int]float64{}
				}
				lists[w][i] += times
			}
			lengths[i] += times * float64(len(words))
		}
		add(split(r.Text), 1)
		add(split(r.Title), 2)
		sum += lengths[i]
	}
	n, mean := float64(len(d.Documents)), sum/float64(len(d.Documents))
	total := 0.0
	for _, q := range d.Queries {
		scores := map[int]float64{}
		for _, w := range split(q.Text) {
			df := float64(len(lists[w]))
			for doc, tf := range lists[w] {
				scores[doc] += math.Log(1+(n-df+0.5)/(df+0.5)) * 2.2 * tf / (tf + 1.2*(0.25+0.75*lengths[doc]/mean))
			}
		}
		var docs []int
		for doc := range scores {
			docs = append(docs, doc)
		}
		slices.SortFunc(docs, func(a, b int) int {
			return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(d.Documents[a].ID, d.Documents[b].ID))
		})
		var ids []string
		for _, doc := range docs[:min(10, len(docs))] {
			ids = append(ids, d.Documents[doc].ID)
		}
		total += measure.NDCG(ids, d.Judged[q.ID], 10)
	}
	return total / float64(len(d.Queries))
}

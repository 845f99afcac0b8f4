package evaluate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quarry/internal/opt"
	"quarry/internal/query/measure"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
)

// Ranker ranks without reading text; retrieve.Service is one.
type Ranker interface {
	Rank(ctx context.Context, q retrieve.Query) ([]retrieve.Ranked, error)
}

// Run is one way to rank.
type Run struct {
	Name     string
	Lambda   opt.Field[float64] // absent takes the default of the corpus
	Reranker rerank.Spec
}

// Runs are the runs that eval compares: each side alone, both, and the default of a query.
var Runs = []Run{
	{"lexical", opt.Some(1.0), rerank.Spec{Type: "none"}},
	{"dense", opt.Some(0.0), rerank.Spec{Type: "none"}},
	{"hybrid", opt.Field[float64]{}, rerank.Spec{Type: "none"}},
	{"default", opt.Field[float64]{}, rerank.Spec{}},
}

// Score is the result of a run.
type Score struct {
	Run              string  `json:"run"`
	NDCG10           float64 `json:"ndcg_at_10"`
	Recall100        float64 `json:"recall_at_100"`
	MRR10            float64 `json:"mrr_at_10"`
	Queries          int     `json:"queries"`
	QueriesPerSecond float64 `json:"queries_per_second"`
	P50              float64 `json:"p50_ms"`
	P99              float64 `json:"p99_ms"`
}

// depth is the number of documents per query, which recall at 100 needs.
const depth = 100

// Measure runs every query of d in turn against the corpus and returns the mean scores. It calls step after each query.
func Measure(ctx context.Context, r Ranker, corpusKey string, d *Dataset, run Run, step func()) (Score, error) {
	s := Score{Run: run.Name, Queries: len(d.Queries)}
	times := make([]time.Duration, 0, len(d.Queries))
	start := time.Now()
	for _, q := range d.Queries {
		before := time.Now()
		ranked, err := r.Rank(ctx, retrieve.Query{
			Text: Plain(q.Text), Limit: depth, Reranker: run.Reranker, BestPerDocument: true,
			Sources: []retrieve.Source{{Corpus: corpusKey, Lambda: run.Lambda}},
		})
		if err != nil {
			return s, fmt.Errorf("query %s: %w", q.ID, err)
		}
		times = append(times, time.Since(before))
		ids := make([]string, len(ranked))
		for i, x := range ranked {
			ids[i] = x.DocumentID
		}
		judged := d.Judged[q.ID]
		s.NDCG10 += measure.NDCG(ids, judged, 10)
		s.Recall100 += measure.Recall(ids, judged, depth)
		s.MRR10 += measure.ReciprocalRank(ids, judged, 10)
		step()
	}
	n := float64(len(d.Queries))
	s.NDCG10, s.Recall100, s.MRR10 = s.NDCG10/n, s.Recall100/n, s.MRR10/n
	s.QueriesPerSecond = n / time.Since(start).Seconds()
	slices.Sort(times)
	s.P50, s.P99 = milliseconds(measure.Percentile(times, 0.5)), milliseconds(measure.Percentile(times, 0.99))
	return s, nil
}

// Plain removes the operators of the query syntax from a text that was not written for it: a quoted title in a test query
// is not a condition.
func Plain(text string) string {
	words := strings.Fields(strings.ReplaceAll(text, `"`, " "))
	for i, w := range words {
		words[i] = strings.TrimRight(strings.TrimLeft(w, "-"), "*")
	}
	return strings.Join(words, " ")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

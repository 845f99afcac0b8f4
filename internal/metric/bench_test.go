package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"quarry/internal/metric"
	"quarry/internal/metric/sketch"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
)

// fill writes a month of queries: in each minute some of each of 50 combinations of labels, the rows merged as a service has them.
func fill(b *testing.B, n node, now time.Time, each int) {
	b.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	last := now.Unix() / 60
	for began := last - 30*24*60; began < last; began += 60 {
		batch := metric.Batch{ID: began, Written: now.Add(-time.Hour)}
		for c := range 50 {
			var cells []metric.Cell
			for minute := began; minute < began+60; minute++ {
				cell := metric.Cell{Minute: minute, Sums: []uint64{uint64(each)}}
				var counts []metric.Count
				for range each {
					took := math.Exp(random.NormFloat64() + 11) // around 60 ms
					counts = append(counts, metric.Count{Bucket: sketch.Bucket(sketch.Bounds, uint64(took)), N: 1})
				}
				for _, one := range counts {
					cell = metric.Merge([]metric.Cell{cell, {Minute: minute, Sums: []uint64{0}, Counts: []metric.Count{one}}})[0]
				}
				cells = append(cells, cell)
			}
			labels := metric.Combination(fmt.Sprintf(`[["corpus-%02d"]]`, c))
			batch.Counted = append(batch.Counted, metric.Counted{Family: "query", Labels: labels, Block: metric.Encode(0, 1, cells)})
		}
		if err := n.store.Add(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	for more := true; more; {
		var err error
		if more, err = n.store.Merge(b.Context(), now); err != nil {
			b.Fatal(err)
		}
	}
	for more := true; more; {
		var err error
		if more, err = n.store.Pack(b.Context(), now.Add(-time.Hour).Truncate(24*time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSeries measures series of 30 days in 1,000 bins at most, with 50 combinations of labels in each minute, on SQLite.
func BenchmarkSeries(b *testing.B) {
	for _, each := range []int{1, 10} {
		n := newNode(storetest.Open(b, store.Config{Dir: b.TempDir()}))
		now := time.Now().UTC()
		fill(b, n, now, each)
		some := func(many int) map[string][]string {
			var keys []string
			for c := range many {
				keys = append(keys, fmt.Sprintf("corpus-%02d", c))
			}
			return map[string][]string{"corpus_keys": keys}
		}
		for _, name := range []string{"query.count", "query.duration_ms"} {
			d, err := n.Find(name)
			if err != nil {
				b.Fatal(err)
			}
			for filter, labels := range map[string]map[string][]string{"all": nil, "1 label": some(1), "5 labels": some(5), "25 labels": some(25), "50 labels": some(50)} {
				b.Run(fmt.Sprintf("%d a minute/%s/%s", each*50, name, filter), func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						start := time.Now()
						s, err := n.Series(b.Context(), metric.Ask{Metric: d, Start: now.Add(-30 * 24 * time.Hour), End: now, Bins: metric.MaxBins, Labels: labels})
						if err != nil || len(s.Points) != 720 {
							b.Fatal(len(s.Points), err)
						}
						took = append(took, time.Since(start))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
				})
			}
		}
	}
}

package lists_test

import (
	"math"
	"testing"

	"quarry/internal/cpu"
	"quarry/internal/index/vector"
)

// BenchmarkSearch measures the ways to search lists beside the scan of all rows, on every kernel path.
func BenchmarkSearch(b *testing.B) {
	const dim, n, k = 384, 50_000, 10
	rotation := vector.NewRotation(dim, 5)
	all := text(2, dim, n+32)
	rows := build(b, rotation, all[:n])
	l := made(b, rows, nil)
	var queries []*vector.Query
	for _, v := range all[n:] {
		queries = append(queries, query(b, rotation, v))
	}
	for _, p := range cpu.Available() {
		if err := cpu.Use(p.String()); err != nil {
			b.Fatal(err)
		}
		measure := func(name string, search func(q *vector.Query) int) {
			b.Run(p.String()+"/"+name, func(b *testing.B) {
				i, codes := 0, 0
				for b.Loop() {
					codes += search(queries[i%len(queries)])
					i++
				}
				b.ReportMetric(float64(codes)/float64(i), "codes/op")
			})
		}
		measure("scan", func(q *vector.Query) int {
			top := best{k: k}
			rows.Search(q, vector.Want{K: k, Floor: math.Inf(-1)}, top.offer)
			return 0
		})
		for _, way := range []string{"share", "all"} {
			measure(way, func(q *vector.Query) int {
				_, counts := search(l, q, way, nil, k)
				return counts.Codes
			})
		}
	}
	if err := cpu.Use("auto"); err != nil {
		b.Fatal(err)
	}
}

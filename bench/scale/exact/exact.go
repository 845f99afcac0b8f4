// Package exact finds the best rows of a query by computing every product, and counts how many of them a search found.
package exact

import (
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"quarry/bench/scale/data"
)

// K is how many results a search is asked for, and measured by.
const K = 10

// slack is how far below the true tenth a score may lie: the same product, summed in another order.
const slack = 2e-6

// Truth is the score of the tenth best row of each query, below any score where fewer rows pass, and how many there are to
// be found.
type Truth struct {
	Floor []float32
	Rows  []int
}

// Of returns, for each condition, the truth about queries among the rows that pass; nil is all rows.
func Of(base, queries data.Vectors, conditions ...func(row int) bool) ([]Truth, error) {
	n := queries.Len()
	out := make([]Truth, len(conditions))
	for i := range out {
		out[i] = Truth{make([]float32, n), make([]int, n)}
	}
	const block = 2048 // rows that stay in the cache while every query of a group goes over them
	const group = 16
	var next atomic.Int64
	var workers errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error {
			for from := int(next.Add(group)) - group; from < n; from = int(next.Add(group)) - group {
				best := make([][][]float32, min(group, n-from)) // by query and condition: descending, at most K
				for i := range best {
					best[i] = make([][]float32, len(conditions))
				}
				for row := 0; row < base.Len(); row += block {
					for i, b := range best {
						scan(b, base, queries.Row(from+i), row, min(row+block, base.Len()), conditions)
					}
				}
				for i, all := range best {
					for c, b := range all {
						out[c].set(from+i, b)
					}
				}
			}
			return nil
		})
	}
	return out, workers.Wait()
}

// set sets the truth about a query from its best scores.
func (t *Truth) set(query int, best []float32) {
	t.Floor[query], t.Rows[query] = -2, len(best)
	if len(best) > 0 {
		t.Floor[query] = best[len(best)-1]
	}
}

// scan offers rows to the best of each condition.
func scan(best [][]float32, base data.Vectors, query []float32, from, to int, conditions []func(int) bool) {
	for row := from; row < to; row++ {
		s := Dot(base.Row(row), query)
		for c, b := range best {
			if len(b) == K && s <= b[K-1] || conditions[c] != nil && !conditions[c](row) {
				continue
			}
			at := len(b)
			for at > 0 && b[at-1] < s {
				at--
			}
			if len(b) == K {
				b = b[:K-1]
			}
			best[c] = slices.Insert(b, at, s)
		}
	}
}

// Dot returns the inner product.
func Dot(a, b []float32) float32 {
	var s [8]float32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s[0] += x[0] * y[0]
		s[1] += x[1] * y[1]
		s[2] += x[2] * y[2]
		s[3] += x[3] * y[3]
		s[4] += x[4] * y[4]
		s[5] += x[5] * y[5]
		s[6] += x[6] * y[6]
		s[7] += x[7] * y[7]
	}
	sum := (s[0] + s[1]) + (s[2] + s[3]) + ((s[4] + s[5]) + (s[6] + s[7]))
	for ; i < len(a); i++ {
		sum += a[i] * b[i]
	}
	return sum
}

// Recall returns the share of the rows to be found that were found, over all queries: a row counts, once, when it passes
// and its true score reaches that of the true tenth.
func (t Truth) Recall(base, queries data.Vectors, found [][]int, passes func(row int) bool) float64 {
	good, all := 0, 0
	for q, rows := range found {
		all += t.Rows[q]
		counted := map[int]bool{}
		for _, row := range rows[:min(len(rows), K)] {
			if row < 0 || counted[row] || passes != nil && !passes(row) {
				continue
			}
			if Dot(base.Row(row), queries.Row(q)) >= t.Floor[q]-slack {
				counted[row] = true
			}
		}
		good += len(counted)
	}
	if all == 0 {
		return 1
	}
	return float64(good) / float64(all)
}

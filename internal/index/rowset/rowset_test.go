package rowset_test

import (
	"slices"
	"testing"

	"quarry/internal/index/rowset"
)

// Every operation agrees with a plain slice of booleans, at and around the borders of words.
func TestOperations(t *testing.T) {
	t.Parallel()
	borders := []int{0, 1, 63, 64, 65, 127, 128, 129, 200}
	for _, n := range borders {
		if all := rowset.All(n); rowset.Count(all) != n || len(all) != rowset.Words(n) {
			t.Fatalf("all of %d: %d rows in %d words", n, rowset.Count(all), len(all))
		}
		for _, from := range borders {
			set, want := make([]uint64, rowset.Words(200)), []int(nil)
			rowset.AddRange(set, from, n)
			for i := from; i < n; i++ {
				want = append(want, i)
			}
			var got []int
			rowset.Each(set, func(row int) { got = append(got, row) })
			if !slices.Equal(got, want) {
				t.Fatalf("range %d…%d: %v", from, n, got)
			}
			for _, to := range borders {
				if from <= to && rowset.Any(set, from, to) != (from < min(n, to)) || rowset.Any(set, 0, min(from, to)) {
					t.Fatalf("any of %d…%d up to %d", from, n, to)
				}
			}
			for _, row := range want {
				if !rowset.Any(set, row, row+1) || rowset.Any(set, 0, row) {
					t.Fatalf("row %d of %d…%d", row, from, n)
				}
				rowset.Remove(set, row)
				if rowset.Has(set, row) {
					t.Fatalf("row %d stays", row)
				}
			}
			if rowset.Count(set) != 0 {
				t.Fatalf("%d rows left", rowset.Count(set))
			}
		}
	}
	set := make([]uint64, 2)
	rowset.Add(set, 64)
	if !rowset.Has(set, 64) || rowset.Has(set, 63) || !rowset.Has(nil, 5) || !rowset.Any(nil, 5, 6) || rowset.Any(nil, 5, 5) {
		t.Error("Add, Has or Any")
	}
}

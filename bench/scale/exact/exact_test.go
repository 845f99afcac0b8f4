package exact_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/bench/scale/data"
	"quarry/bench/scale/exact"
)

func random(n, dim int, seed uint64) data.Vectors {
	r := rand.New(rand.NewPCG(seed, 2))
	v := data.New(n, dim)
	for i := range v.Values {
		v.Values[i] = float32(r.NormFloat64())
	}
	return v
}

// ranked returns the rows that pass, best first, by sums of float64 in the plainest way.
func ranked(base data.Vectors, query []float32, passes func(int) bool) (rows []int) {
	score := func(row int) (s float64) {
		for i, x := range base.Row(row) {
			s += float64(x) * float64(query[i])
		}
		return s
	}
	for row := range base.Len() {
		if passes == nil || passes(row) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b int) int {
		if score(a) > score(b) {
			return -1
		}
		return 1
	})
	return rows
}

// Proves that the true ten are those of a plain sort, with and without a filter, in any size of block, and that recall
// counts exactly them.
func TestRecallCountsTheTrueTen(t *testing.T) {
	t.Parallel()
	base, queries := random(5000, 19, 1), random(40, 19, 2)
	third := func(row int) bool { return row%3 == 0 }
	for name, passes := range map[string]func(int) bool{"all": nil, "a third": third} {
		all, err := exact.Of(base, queries, nil, passes)
		if err != nil {
			t.Fatal(err)
		}
		truth := all[1]
		right, seven, wrong, twice := make([][]int, 40), make([][]int, 40), make([][]int, 40), make([][]int, 40)
		for q := range 40 {
			rows := ranked(base, queries.Row(q), passes)
			right[q] = slices.Clone(rows[:exact.K])
			slices.Reverse(right[q]) // order is no matter
			seven[q] = append(slices.Clone(rows[:7]), rows[20], rows[21], rows[22])
			wrong[q] = rows[exact.K : 2*exact.K]
			twice[q] = slices.Repeat(rows[:1], exact.K)
		}
		for _, c := range []struct {
			name  string
			found [][]int
			want  float64
		}{{"the ten", right, 1}, {"seven of them", seven, 0.7}, {"the next ten", wrong, 0}, {"the best ten times", twice, 0.1}, {"nothing", make([][]int, 40), 0}} {
			if got := truth.Recall(base, queries, c.found, passes); got != c.want {
				t.Errorf("%s, %s: recall %v, want %v", name, c.name, got, c.want)
			}
		}
	}
}

// Proves that a row that does not pass is never right, that equal rows stand for each other, and that fewer than ten are
// all there are to find.
func TestRecallOfFilters(t *testing.T) {
	t.Parallel()
	base, queries := random(100, 8, 3), random(5, 8, 4)
	for i := 50; i < 100; i++ {
		copy(base.Row(i), base.Row(i-50)) // every row twice
	}
	four := func(row int) bool { return row < 4 }
	both, err := exact.Of(base, queries, four, nil)
	if err != nil {
		t.Fatal(err)
	}
	truth := both[0]
	found, outside := make([][]int, 5), make([][]int, 5)
	for q := range found {
		found[q], outside[q] = []int{3, 2, 1, 0}, []int{50, 51, 52, 53}
	}
	if r := truth.Recall(base, queries, found, four); r != 1 {
		t.Errorf("all four rows are a recall of %v", r)
	}
	if r := truth.Recall(base, queries, outside, four); r != 0 {
		t.Errorf("rows that do not pass are a recall of %v", r)
	}
	truth = both[1]
	for q := range found {
		found[q] = ranked(base, queries.Row(q), nil)[:exact.K]
		for i, row := range found[q] {
			found[q][i] = (row + 50) % 100 // its copy
		}
	}
	if r := truth.Recall(base, queries, found, nil); r != 1 {
		t.Errorf("copies of the best are a recall of %v", r)
	}
}

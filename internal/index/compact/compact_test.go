package compact_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/index/compact"
)

// Proves that segments in memory are merged as soon as eight are of one order of magnitude, whatever lies between them.
func TestFull(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ live, want []int }{
		"none":              {nil, nil},
		"seven":             {[]int{1, 1, 1, 1, 1, 1, 1}, nil},
		"eight":             {[]int{1, 2, 3, 4, 5, 6, 7, 1}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"others between":    {[]int{9, 100, 8, 63, 5, 10, 11, 12, 700, 13, 14}, []int{0, 2, 3, 5, 6, 7, 9, 10}},
		"of two sizes":      {[]int{1, 1, 1, 1, 8, 8, 8, 8}, nil},
		"two tiers, larger": {[]int{8, 8, 8, 8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 8}, []int{0, 1, 2, 3, 4, 5, 6, 15}},
	} {
		if got := compact.Full(c.live); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Proves that segments in memory are left to be sealed rather than merged, where merging is as much work.
func TestFullIsBounded(t *testing.T) {
	t.Parallel()
	if got := compact.Full([]int{2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048}); len(got) != 8 {
		t.Errorf("as much as sealing: %v", got)
	}
	if got := compact.Full([]int{2049, 2048, 2048, 2048, 2048, 2048, 2048, 2048}); got != nil {
		t.Errorf("more than sealing: %v", got)
	}
}

// Proves that an index rests so long after the last write, but that merging at rest takes no more than a fiftieth of the time.
func TestRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		after := func() time.Duration { return time.Since(began) }
		r := compact.Rest{After: 10 * time.Minute}
		wait := func(want time.Duration) {
			t.Helper()
			if got := r.At().Sub(began); got != want {
				t.Errorf("at rest after %v, want %v", got, want)
			}
		}
		r.Wrote()
		wait(10 * time.Minute)
		time.Sleep(10 * time.Minute)
		r.Worked(time.Minute, false)
		wait(10 * time.Minute) // there is more to merge
		r.Worked(time.Minute, true)
		wait(110 * time.Minute)
		time.Sleep(time.Hour)
		r.Wrote()
		wait(110 * time.Minute)
		time.Sleep(time.Hour)
		r.Wrote()
		wait(140 * time.Minute)
		time.Sleep(10 * time.Minute)
		r.Worked(time.Second, true)
		wait(after() + 50*time.Second)
	})
}

func sizes(live ...int) (out []compact.Size) {
	for _, n := range live {
		out = append(out, compact.Size{Rows: n, Live: n, Bytes: int64(100 * n)})
	}
	return out
}

// Proves that of the segments in files eight of one order of magnitude are merged, the smallest, no more than one segment
// can hold.
func TestDueTiers(t *testing.T) {
	t.Parallel()
	equal := func(n, rows int) []int { return slices.Repeat([]int{rows}, n) }
	const most = compact.MaxRows
	for name, c := range map[string]struct {
		live []int
		want int // rows of the segment that is made, 0 for none
	}{
		"none":      {nil, 0},
		"seven":     {equal(7, 16_384), 0},
		"eight":     {equal(8, 4096), 8 * 4096},
		"sealed":    {equal(8, 16_384), 131_072},
		"large":     {equal(8, 131_072), 1 << 20},
		"as holds":  {equal(8, 1<<20), most},
		"too large": {equal(8, most/2+1), 0},
		"smallest":  {[]int{40, 41, 42, 43, 44, 45, 46, 47, 33, 500}, 33 + 40 + 41 + 42 + 43 + 44 + 45 + 46},
		"two sizes": {[]int{1, 9, 10, 11, 12, 13, 14, 15, 16}, 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16},
	} {
		rows, seen := 0, map[int]bool{}
		for _, at := range compact.Due(sizes(c.live...)) {
			rows += c.live[at]
			if seen[at] {
				t.Errorf("%s: %d twice", name, at)
			}
			seen[at] = true
		}
		if rows != c.want {
			t.Errorf("%s: %d rows, want %d", name, rows, c.want)
		}
	}
	long := sizes(equal(8, 1000)...)
	for i := range long {
		long[i].Bytes = 1 << 30
	}
	if got := compact.Due(long); len(got) != 3 {
		t.Errorf("of eight segments with a GiB of lists each %d are merged", len(got))
	}
}

// Proves that at rest everything up to the largest segment becomes one, and that what is more ends with segments of which
// no two could be one.
func TestAtRest(t *testing.T) {
	t.Parallel()
	const most = compact.MaxRows
	for _, c := range []struct{ live, want []int }{
		{nil, nil}, {[]int{5}, []int{5}}, {[]int{most}, []int{most}},
		{[]int{3_000_000, 7, 16_384, 900_000}, []int{3_916_391}},
		{[]int{2_500_000, 2_500_000, 2_500_000}, []int{2_500_000, 2_500_000, 2_500_000}},
		{[]int{most, 7, 16_384, 900_000}, []int{916_391, most}},
		{[]int{3_000_000, 3_000_000, 1_000_000, 1_000_000}, []int{4_000_000, 4_000_000}},
	} {
		live := slices.Clone(c.live)
		for {
			in := compact.AtRest(sizes(live...))
			if in == nil {
				break
			}
			rows := 0
			for _, at := range in {
				rows += live[at]
				live[at] = 0
			}
			live = append(slices.DeleteFunc(live, func(n int) bool { return n == 0 }), rows)
		}
		if slices.Sort(live); !slices.Equal(live, c.want) {
			t.Errorf("%v ends as %v, want %v", c.live, live, c.want)
		}
	}
}

// Proves that an index that was just filled is merged at once as at rest, but not for the sake of few rows that came since.
func TestFilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ live, want []int }{
		{nil, nil}, {[]int{5}, nil},
		{[]int{16_384, 16_384, 16_384, 900}, []int{2, 1, 0, 3}},
		{[]int{1_000_000, 16_384, 7}, nil},
		{[]int{1_000_000, 16_384, 150_000}, []int{0, 2, 1}},
		{[]int{compact.MaxRows, 700_000, 700_000}, []int{2, 1}},
	} {
		if got := compact.Filled(sizes(c.live...)); !slices.Equal(got, c.want) {
			t.Errorf("of %v are merged %v, want %v", c.live, got, c.want)
		}
	}
}

// Proves that a segment is written anew when more than a fifth of it is deleted, before others are merged.
func TestWorn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, live int
		want       bool
	}{{100, 100, false}, {100, 80, false}, {100, 79, true}, {1, 0, true}, {4_000_000, 3_199_999, true}} {
		if got := compact.Worn(c.rows, c.live); got != c.want {
			t.Errorf("%d rows, %d live: %v", c.rows, c.live, got)
		}
	}
	all := append(sizes(10, 10, 10, 10, 10, 10, 10, 10), compact.Size{Rows: 1000, Live: 700})
	if got := compact.Due(all); !slices.Equal(got, []int{8}) {
		t.Errorf("%v are due", got)
	}
}

// Proves that the pauses after failures grow, and not beyond an hour.
func TestPause(t *testing.T) {
	t.Parallel()
	var got []time.Duration
	for _, n := range []int{1, 2, 3, 6, 7, 1000} {
		got = append(got, compact.Pause(n)/time.Minute)
	}
	if !slices.Equal(got, []time.Duration{1, 2, 4, 32, 60, 60}) {
		t.Errorf("pauses of %d minutes", got)
	}
}

// Proves that updates weigh a quarter of a row, that a little is not worth writing, and that after a write has failed as
// much again must come before the next attempt.
func TestThreshold(t *testing.T) {
	t.Parallel()
	when := compact.NewThreshold()
	if w := compact.Changes(3, compact.Updates(10)); w != 13 {
		t.Errorf("three deletes and 40 updates weigh %d", w)
	}
	if when.Worth(2_000) || !when.Worth(2_001) {
		t.Error("worth writing at the end")
	}
	due := func(weight int, want bool) {
		t.Helper()
		if when.Due(weight) != want {
			t.Errorf("%d due: %v", weight, !want)
		}
	}
	due(16_383, false)
	due(16_384, true)
	when.Failed(17_000)
	due(33_000, false)
	due(33_384, true)
	when.Saved()
	due(16_384, true)
}

package compact_test

import (
	"slices"
	"testing"

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

// Proves that of the segments in files eight of one order of magnitude are merged, the smallest, and that none is made
// which a writer would have to wait for too long.
func TestSmallest(t *testing.T) {
	t.Parallel()
	equal := func(n, rows int) []int { return slices.Repeat([]int{rows}, n) }
	for name, c := range map[string]struct {
		live []int
		want int // rows of the segment that is made, 0 for none
	}{
		"none":      {nil, 0},
		"seven":     {equal(7, 16_384), 0},
		"eight":     {equal(8, 4096), 8 * 4096},
		"at most":   {equal(8, 16_384), 131_072},
		"too large": {equal(8, 16_385), 0},
		"smallest":  {[]int{40, 41, 42, 43, 44, 45, 46, 47, 33, 500}, 33 + 40 + 41 + 42 + 43 + 44 + 45 + 46},
		"two sizes": {[]int{1, 9, 10, 11, 12, 13, 14, 15, 16}, 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16},
	} {
		rows := 0
		for _, at := range compact.Smallest(c.live) {
			rows += c.live[at]
		}
		if rows != c.want {
			t.Errorf("%s: %d rows, want %d", name, rows, c.want)
		}
	}
}

// Proves that a segment is written anew when more than a fifth of it is deleted, unless that takes too long.
func TestWorn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows, live int
		want       bool
	}{{100, 100, false}, {100, 80, false}, {100, 79, true}, {1, 0, true}, {200_000, 131_072, true}, {200_000, 131_073, false}} {
		if got := compact.Worn(c.rows, c.live); got != c.want {
			t.Errorf("%d rows, %d live: %v", c.rows, c.live, got)
		}
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

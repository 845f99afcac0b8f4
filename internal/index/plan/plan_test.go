package plan_test

import (
	"testing"

	"quarry/internal/index/plan"
)

// TestDense proves the choice for segments and filters of all kinds.
func TestDense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		segment plan.Segment
		way     plan.Way
		lists   int
	}{
		"no lists":           {plan.Segment{Rows: 90_000, Passing: 90_000}, plan.Scan, 0},
		"none passes":        {plan.Segment{Rows: 90_000, Lists: 2048, Share: 0.05}, plan.Scan, 0},
		"few pass":           {plan.Segment{Rows: 1_000_000, Passing: 20_000, Lists: 4096, Share: 0.02}, plan.Scan, 0},
		"all pass":           {plan.Segment{Rows: 1_000_000, Passing: 1_000_000, Lists: 4096, Share: 0.025}, plan.Lists, 103},
		"a tenth passes":     {plan.Segment{Rows: 1_000_000, Passing: 100_000, Lists: 4096, Share: 0.025}, plan.Lists, 183},
		"hard to divide":     {plan.Segment{Rows: 1_000_000, Passing: 1_000_000, Lists: 4096, Share: 0.41}, plan.All, 0},
		"hard, a tenth":      {plan.Segment{Rows: 1_000_000, Passing: 100_000, Lists: 4096, Share: 0.41}, plan.Blocks, 0},
		"hard, a half":       {plan.Segment{Rows: 1_000_000, Passing: 500_000, Lists: 4096, Share: 0.41}, plan.All, 0},
		"at most two fifths": {plan.Segment{Rows: 1_000_000, Passing: 30_000, Lists: 4096, Share: 0.3}, plan.Lists, 1639},
		"small, a half":      {plan.Segment{Rows: 60_000, Passing: 30_000, Lists: 1024, Share: 0.1}, plan.Lists, 122},
		"more than all pass": {plan.Segment{Rows: 60_000, Passing: 60_000, Lists: 1024, Share: 1}, plan.All, 0},
	} {
		if way, lists := c.segment.Dense(); way != c.way || lists != c.lists {
			t.Errorf("%s: way %d with %d lists, want %d with %d", name, way, lists, c.way, c.lists)
		}
	}
}

// TestConfirm proves that lists are read in part only where they have their share of the rows that pass.
func TestConfirm(t *testing.T) {
	t.Parallel()
	tenth, most := plan.Segment{Rows: 1000, Passing: 100}, plan.Segment{Rows: 1000, Passing: 900}
	for _, c := range []struct {
		segment       plan.Segment
		rows, passing int
		way           plan.Way
	}{
		{tenth, 50, 5, plan.Lists}, {tenth, 50, 50, plan.Lists}, {tenth, 50, 4, plan.Lists}, {tenth, 50, 3, plan.Blocks}, {tenth, 50, 0, plan.Blocks},
		{most, 100, 90, plan.Lists}, {most, 100, 71, plan.All}, {tenth, 0, 0, plan.Lists},
	} {
		if way := c.segment.Confirm(c.rows, c.passing); way != c.way {
			t.Errorf("%+v, %d of %d rows: way %d, want %d", c.segment, c.passing, c.rows, way, c.way)
		}
	}
}

package sides

import (
	"context"
	"slices"

	"quarry/internal/index/lists"
	"quarry/internal/index/plan"
	"quarry/internal/index/vector"
	"quarry/internal/search"
)

// wayNames are the ways in the plan of an answer.
var wayNames = [...]string{plan.Scan: search.WayScan, plan.Lists: search.WayLists, plan.Blocks: search.WayBlocks, plan.All: search.WayAll}

// approach is how the vectors of a view are searched.
type approach struct {
	segment plan.Segment
	way     plan.Way
	lists   int // of which codes are read, for plan.Lists
}

// decide chooses how the vectors of each view are searched. Where one is not searched exactly the search is for the pool of
// its query, whatever K is.
func (s *Search) decide() {
	s.ways = make([]approach, len(s.Views))
	s.k = s.q.K
	if !s.meant || s.q.Exact || s.q.Pool < 1 {
		return
	}
	for i, v := range s.Views {
		if v.Lists == nil {
			continue
		}
		a := approach{segment: plan.Segment{
			Rows: v.Rows, Passing: s.plan[i].Passing, Lists: v.Lists.Lists(), Share: v.Lists.Share, ScanMost: s.ScanMost,
		}}
		if a.way, a.lists = a.segment.Dense(); a.way != plan.Scan {
			s.k = s.q.Pool
		}
		s.ways[i] = a
	}
}

// Exact reports whether the vectors of every view are searched exactly.
func (s *Search) Exact() bool {
	for _, a := range s.ways {
		if a.way != plan.Scan {
			return false
		}
	}
	return true
}

// dense offers the rows of view i by cosine.
func (s *Search) dense(i int, floor float64, offer func(row int, score float64) float64) {
	s.gather(i, floor, func(c *vector.Candidates) {
		s.plan[i].Settled = c.Settle(s.Views[i].Vectors, s.vector, floor, offer)
	})
}

// gather calls use with the rows of view i that may be among the best by cosine.
func (s *Search) gather(i int, floor float64, use func(*vector.Candidates)) {
	v, step, a := s.Views[i], &s.plan[i], s.ways[i]
	step.Way = wayNames[plan.Scan]
	if a.way == plan.Scan {
		var c vector.Candidates
		v.Vectors.Gather(s.vector, vector.Want{Allow: s.allow[i], K: s.k, Floor: floor}, &c)
		use(&c)
		return
	}
	w := lists.Want{Allow: s.allow[i], K: s.k, Floor: floor, Slack: lists.Wide}
	if a.way == plan.Lists && 3*step.Passing >= 2*step.Rows { // nearly as when the share was calibrated
		w.Slack = lists.Usual
	}
	l := v.Lists.Search(s.vector, w)
	defer l.Close()
	if a.way == plan.Lists && w.Allow != nil {
		a.way = a.segment.Confirm(l.Within(plan.Looked(a.lists)))
	}
	switch a.way {
	case plan.Lists:
		l.Best(a.lists)
	case plan.Blocks:
		marks, _ := v.Lists.Mark(w.Allow)
		l.All(marks)
	default:
		l.All(nil)
	}
	step.Way, step.Lists, step.Codes = wayNames[a.way], l.Counts.Lists, l.Counts.Codes
	use(l.Candidates())
}

// Compare searches the n best rows by cosine exactly, and returns how many of them lie in segments that Run has searched in each way that
// is not exact, and how many of those are in dense, which it has chosen.
func (s *Search) Compare(n int, dense []Place) (best, found map[string]int, err error) {
	again := &Search{State: s.State, ctx: context.Background(), q: &search.Query{K: min(s.k, n)}, meant: true, vector: s.vector, allow: s.allow, passing: s.passing,
		plan: make([]search.Step, len(s.plan))}
	again.decide()
	all, err := again.choose(byVectors)
	if err != nil {
		return nil, nil, err
	}
	best, found = map[string]int{}, map[string]int{}
	for _, p := range all.places() {
		way := s.plan[p.View].Way
		if way == search.WayScan {
			continue
		}
		best[way]++
		if slices.Contains(dense, p) {
			found[way]++
		}
	}
	return best, found, nil
}

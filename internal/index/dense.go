package index

import (
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
func (r *run) decide() {
	r.ways = make([]approach, len(r.st.views))
	r.k = r.q.K
	if r.vector == nil || r.q.Exact || r.q.Pool < 1 {
		return
	}
	for i, v := range r.st.views {
		if v.Lists == nil {
			continue
		}
		a := approach{segment: plan.Segment{
			Rows: v.Rows, Passing: r.plan[i].Passing, Lists: v.Lists.Lists(), Share: v.Lists.Share, ScanMost: r.x.scanMost,
		}}
		if a.way, a.lists = a.segment.Dense(); a.way != plan.Scan {
			r.k = r.q.Pool
		}
		r.ways[i] = a
	}
}

// exact reports whether the vectors of every view were searched exactly.
func (r *run) exact() bool {
	for _, a := range r.ways {
		if a.way != plan.Scan {
			return false
		}
	}
	return true
}

// dense offers the rows of view i by cosine.
func (r *run) dense(i int, floor float64, offer func(row int, score float64) float64) {
	v, step, a := r.st.views[i], &r.plan[i], r.ways[i]
	step.Way = wayNames[plan.Scan]
	if a.way == plan.Scan {
		v.Vectors.Search(r.vector, vector.Want{Allow: r.allow[i], K: r.k, Floor: floor}, func(row int, score float64) float64 {
			step.Settled++
			return offer(row, score)
		})
		return
	}
	w := lists.Want{Allow: r.allow[i], K: r.k, Floor: floor, Slack: lists.Wide, Offer: offer}
	if a.way == plan.Lists && 3*step.Passing >= 2*step.Rows { // nearly as when the share was calibrated
		w.Slack = lists.Usual
	}
	s := v.Lists.Search(r.vector, w)
	defer s.Close()
	if a.way == plan.Lists && w.Allow != nil {
		a.way = a.segment.Confirm(s.Within(plan.Looked(a.lists)))
	}
	switch a.way {
	case plan.Lists:
		s.Best(a.lists)
	case plan.Blocks:
		marks, _ := v.Lists.Mark(w.Allow)
		s.All(marks)
	default:
		s.All(nil)
	}
	step.Way, step.Lists, step.Codes, step.Settled = wayNames[a.way], s.Counts.Lists, s.Counts.Codes, s.Counts.Settled
}

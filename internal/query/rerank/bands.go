package rerank

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
)

// FirstBand is the size of the first band, and the smallest pool (contract: queries.md section 6).
const FirstBand = 100

// growth is how many times as many results two bands hold as the first of them: the bands end at 100, 1,000, 10,000 …
const growth = 10

// Band returns the size of the first band for pages of limit results. Where a stage compares results with each other, it is
// the same for pages of every size. Elsewhere a page that begins the list is ranked as a whole, so that a user function puts
// all of it in its own order.
func (p Pipeline) Band(limit int) int {
	if slices.ContainsFunc(p.Stages, func(s Stage) bool { _, ok := s.scorer.(mmr); return ok }) {
		return FirstBand
	}
	return Pool(FirstBand, limit)
}

// Pool returns how many candidates the bands hold that reach to the result at rank need; first is the size of the first one.
func Pool(first, need int) int {
	for first < need {
		first *= growth
	}
	return first
}

// Run passes items, best first, through the stages. It ranks them in bands: the first `band` items by every stage, then nine
// times as many behind them, and so on. So the order of the first results does not depend on how many more there are, and
// pages are slices of one order. Stages go on from band to band: limits count the results of all of them. No stage makes
// scores rise along the results: that of a result behind an earlier band is at most the last one there. Where retrieval itself
// has a better passage behind a worse one, and no stage changes the order, its score stays what it is. With record Run
// also returns what each stage did.
//
// Headings, which are the last of items, begin a band of their own. They are left out if a stage removed a passage: nothing
// stands in for what was not good enough.
func (p Pipeline) Run(ctx context.Context, items []Item, band int, m Candidates, record bool) ([]Item, []Step, error) {
	r, headings := newRun(p, m, record), len(items)
	r.ordered = p.KeepsOrder()
	if i := slices.IndexFunc(items, func(x Item) bool { return m.Signals(x.Index).Heading }); i >= 0 {
		headings = i
	}
	for from, to := 0, band; from < len(items); {
		switch spent := r.spent(); {
		case spent && !record:
			return r.out, nil, nil
		case from == headings && len(r.out) < headings && !spent:
			r.leaveOut(items[from:])
			items = items[:from]
			continue
		}
		end := min(to, len(items))
		if from < headings {
			end = min(end, headings)
		}
		if err := r.band(ctx, items[from:end]); err != nil {
			return nil, nil, err
		}
		if from = end; from == to {
			to *= growth
		}
	}
	if !record {
		r.steps = nil
	}
	return r.out, r.steps, nil
}

// run is a pipeline at work on the results of one query.
type run struct {
	stages     []Stage
	scorings   []scoring // nil where scores stay
	kept       []int     // results that each stage has let through
	candidates Candidates
	now        time.Time // fixed once per query
	record     bool
	ordered    bool // no stage changes the order
	steps      []Step
	out        []Item
}

func newRun(p Pipeline, m Candidates, record bool) *run {
	r := &run{stages: p.Stages, kept: make([]int, len(p.Stages)), candidates: m, now: time.Now(), record: record}
	for i, s := range p.Stages {
		var x scoring
		if s.scorer != nil {
			x = s.scorer.start()
		}
		r.scorings = append(r.scorings, x)
		step := Step{Name: fmt.Sprintf("reranker[%d].%s", i, s.Type), Type: s.Type, Started: r.now}
		if record {
			step.Removed, step.Parts = map[int]Reason{}, map[int][]Part{}
		}
		r.steps = append(r.steps, step)
	}
	return r
}

// left returns how many results stage i still lets through; ok is false if any number.
func (r *run) left(i int) (n int, ok bool) {
	return r.stages[i].limit - r.kept[i], r.stages[i].limit > 0
}

// spent reports whether a stage lets nothing through any more.
func (r *run) spent() bool {
	for i := range r.stages {
		if n, ok := r.left(i); ok && n == 0 {
			return true
		}
	}
	return false
}

// band passes the next band through the stages.
func (r *run) band(ctx context.Context, items []Item) error {
	for i := range r.stages {
		step, began := &r.steps[i], time.Now()
		if len(step.In) == 0 {
			step.Started = began
		}
		out, err := r.stage(ctx, i, items)
		if err != nil {
			return fmt.Errorf("run %s: %w", step.Name, err)
		}
		if i == len(r.stages)-1 {
			r.deliver(out)
		}
		if r.record {
			step.In, step.Out = append(step.In, items...), append(step.Out, out...)
			step.Latency += time.Since(began)
		}
		items = out
	}
	return nil
}

// stage does what every stage does (contract: rerankers.md section 2): score, drop null, cut off, sort by the new score
// with ties in their old order, keep the first.
func (r *run) stage(ctx context.Context, i int, items []Item) ([]Item, error) {
	s, step := &r.stages[i], &r.steps[i]
	left, limited := r.left(i)
	if limited && left == 0 {
		step.remove(items, Limit)
		return nil, nil
	}
	scores := make([]score, len(items))
	for j, x := range items {
		scores[j].value = x.Score
	}
	if r.scorings[i] != nil && len(items) > 0 {
		var err error
		if scores, err = r.scorings[i].score(ctx, input{items, r.candidates, r.now}); err != nil {
			return nil, err
		}
	}
	out := make([]Item, 0, len(items))
	for j, x := range items {
		switch got := scores[j]; {
		case got.null:
			step.remove(items[j:j+1], Null)
		case s.cutoff != nil && got.value < *s.cutoff:
			step.remove(items[j:j+1], Cutoff)
		default:
			out = append(out, Item{x.Index, got.value})
			step.explain(x, got)
		}
	}
	slices.SortStableFunc(out, func(a, b Item) int { return cmp.Compare(b.Score, a.Score) })
	if limited && len(out) > left {
		step.remove(out[left:], Limit)
		out = out[:left]
	}
	r.kept[i] += len(out)
	return out, nil
}

// leaveOut leaves out headings before any stage.
func (r *run) leaveOut(items []Item) {
	if r.record {
		r.steps[0].In = append(r.steps[0].In, items...)
		r.steps[0].remove(items, Behind)
	}
}

// deliver appends what the last stage has left of a band, none of it with a higher score than what stands before it but for
// what retrieval has in this order.
func (r *run) deliver(items []Item) {
	for i := range items {
		x := &items[i]
		if n := len(r.out); n > 0 && x.Score > r.out[n-1].Score && !r.overlooked(x, &r.out[n-1]) {
			r.steps[len(r.steps)-1].lower(x, r.out[n-1].Score)
		}
		r.out = append(r.out, *x)
	}
}

// overlooked reports whether x is a passage that a search by lists missed, so that it stands behind worse ones. Its score
// says what it is worth, however it was found.
func (r *run) overlooked(x, before *Item) bool {
	if !r.ordered {
		return false
	}
	s := r.candidates.Signals(x.Index)
	return !s.Heading && s.Score > r.candidates.Signals(before.Index).Score
}

func (s *Step) remove(items []Item, why Reason) {
	if s.Removed == nil {
		return
	}
	for _, x := range items {
		s.Removed[x.Index] = why
	}
}

func (s *Step) explain(x Item, got score) {
	switch {
	case s.Parts == nil:
	case got.parts != nil:
		for _, p := range got.parts {
			s.Parts[x.Index] = append(s.Parts[x.Index], Part{s.Name + "." + p.Name, p.Value})
		}
	case got.value != x.Score:
		s.Parts[x.Index] = []Part{{s.Name, got.value - x.Score}}
	}
}

// lower sets the score of a result that stands behind an earlier band.
func (s *Step) lower(x *Item, value float64) {
	if s.Parts != nil {
		s.Parts[x.Index] = append(s.Parts[x.Index], Part{s.Name + ".order", value - x.Score})
	}
	x.Score = value
}

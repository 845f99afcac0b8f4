package index

import (
	"context"
	"slices"

	"quarry/internal/index/recall"
	"quarry/internal/search"
)

const recallBest = 10 // parts by cosine that a search which is asked again should have found

// checking is held by the one search of the process that is being asked again, so that this never takes more than a core.
var checking = make(chan struct{}, 1)

// Recall returns, for each way to search vectors that is not exact, what has been found by it since the index was opened:
// one search in a thousand is asked again exactly, in the background.
func (x *Index) Recall() []recall.Recall { return x.recall.All() }

// check asks a search that was not exact again, in the background, when it is its turn; got is what its dense side found.
func (r *run) check(got []placed) {
	x := r.x
	if !x.recall.Due() {
		return
	}
	select {
	case checking <- struct{}{}:
	default:
		return // another one is being asked
	}
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		<-checking
		return
	}
	r.st.refs++
	x.checks.Add(1)
	x.mu.Unlock()
	again := &run{ctx: context.Background(), x: x, st: r.st, q: &search.Query{K: min(r.k, recallBest)}, vector: r.vector,
		allow: r.allow, plan: make([]search.Step, len(r.plan))}
	again.decide()
	go again.compare(slices.Clone(got), slices.Clone(r.plan))
}

// compare counts what a search found of what r finds, and ends what check began. A damaged file ends it early.
func (r *run) compare(got []placed, steps []search.Step) {
	var err error
	defer func() {
		r.x.release(r.st)
		<-checking
		r.x.checks.Done()
	}()
	defer guard(&err, r.st.views)()
	all, _, err := r.side(byVectors)
	if err != nil {
		return
	}
	had := make(map[place]bool, len(got))
	for _, h := range got {
		had[h.place] = true
	}
	best, found := map[string]int{}, map[string]int{}
	for _, h := range all {
		way := steps[h.view].Way
		if way == search.WayScan {
			continue
		}
		best[way]++
		if had[h.place] {
			found[way]++
		}
	}
	r.x.recall.Add(best, found)
}

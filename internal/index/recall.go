package index

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/search"
)

// Recall is what searches that were not exact have found of what exact ones find.
type Recall struct {
	Way     string  // in which a segment was searched
	Queries int     // that were asked again exactly and have best parts in such a segment
	Mean    float64 // share of those parts that had been found
}

const (
	recallEvery = 1000 // searches that are not exact, of which one is asked again
	recallBest  = 10   // of the best parts by cosine
)

// checking is held by the one search of the process that is being asked again, so that this never takes more than a core.
var checking = make(chan struct{}, 1)

// recall counts, for one index, what searches that are not exact find. Safe for concurrent use.
type recall struct {
	every   int64 // 0 = recallEvery
	asked   atomic.Int64
	running sync.WaitGroup

	mu   sync.Mutex
	ways map[string]*tally // guarded by mu
}

type tally struct {
	queries int
	sum     float64
}

// due reports whether the search under way is one to be asked again.
func (c *recall) due() bool {
	every := c.every
	if every == 0 {
		every = recallEvery
	}
	return c.asked.Add(1)%every == 0
}

// add counts the best parts of a search, of which found were found, by the way of their segments.
func (c *recall) add(best, found map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ways == nil {
		c.ways = map[string]*tally{}
	}
	for way, n := range best {
		t := c.ways[way]
		if t == nil {
			t = &tally{}
			c.ways[way] = t
		}
		t.queries++
		t.sum += float64(found[way]) / float64(n)
	}
}

// Recall returns, for each way to search vectors that is not exact, what has been found by it since the index was opened:
// one search in a thousand is asked again exactly, in the background.
func (x *Index) Recall() []Recall {
	c := &x.recall
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Recall
	for _, way := range slices.Sorted(maps.Keys(c.ways)) {
		t := c.ways[way]
		out = append(out, Recall{Way: way, Queries: t.queries, Mean: t.sum / float64(t.queries)})
	}
	return out
}

// check asks a search that was not exact again, in the background, when it is its turn; got is what its dense side found.
func (r *run) check(got map[place]bool) {
	x := r.x
	if !x.recall.due() {
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
	x.recall.running.Add(1)
	x.mu.Unlock()
	again := &run{ctx: context.Background(), x: x, st: r.st, q: &search.Query{K: min(r.k, recallBest)}, vector: r.vector,
		allow: r.allow, plan: make([]search.Step, len(r.plan))}
	again.decide()
	go again.compare(maps.Clone(got), slices.Clone(r.plan))
}

// compare counts what a search found of what r finds, and ends what check began. A damaged file ends it early.
func (r *run) compare(got map[place]bool, steps []search.Step) {
	var err error
	defer func() {
		r.x.release(r.st)
		<-checking
		r.x.recall.running.Done()
	}()
	defer guard(&err, r.st.views)()
	all := map[place]bool{}
	if _, err = r.side(all, r.dense); err != nil {
		return
	}
	best, found := map[string]int{}, map[string]int{}
	for p := range all {
		way := steps[p.view].Way
		if way == search.WayScan {
			continue
		}
		best[way]++
		if got[p] {
			found[way]++
		}
	}
	r.x.recall.add(best, found)
}

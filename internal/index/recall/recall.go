// Package recall counts, for one index, what searches that are not exact find of what exact ones find. Package index asks
// some of them again and hands over what came of it.
package recall

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Recall is what searches that were not exact have found of what exact ones find.
type Recall struct {
	Way     string  // in which a segment was searched
	Queries int     // that were asked again exactly and have best parts in such a segment
	Mean    float64 // share of those parts that had been found
}

// Every is the number of searches that are not exact of which one is asked again.
const Every = 1000

// Counter counts for one index. The zero value is ready. Safe for concurrent use.
type Counter struct {
	Every int64 // instead of the constant, for tests; 0 = that
	asked atomic.Int64

	mu   sync.Mutex
	ways map[string]*tally // guarded by mu
}

type tally struct {
	queries int
	sum     float64
}

// Due reports whether the search under way is one to be asked again.
func (c *Counter) Due() bool {
	every := c.Every
	if every == 0 {
		every = Every
	}
	return c.asked.Add(1)%every == 0
}

// Add counts the best parts of a search, of which found were found, by the way of their segments.
func (c *Counter) Add(best, found map[string]int) {
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

// All returns what was counted for each way, by its name.
func (c *Counter) All() []Recall {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Recall
	for _, way := range slices.Sorted(maps.Keys(c.ways)) {
		t := c.ways[way]
		out = append(out, Recall{Way: way, Queries: t.queries, Mean: t.sum / float64(t.queries)})
	}
	return out
}

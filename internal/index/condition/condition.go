// Package condition keeps the rows of segments for which conditions of filters hold, so that a filter that comes again, or
// a part of it, is not evaluated again. It knows nothing of rows and filters: whoever evaluates says what the result is
// of. Packages rows and index call it.
package condition

import (
	"container/list"
	"sync"

	"quarry/internal/index/layer"
)

// Cache holds results up to a number of bytes and forgets those that were not used for the longest time. A result is of
// the values of one segment, which stand for segment, attributes and every change of values at once: none of them changes
// without a new Set. A nil *Cache holds nothing. Safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	budget int64
	of     map[*layer.Set]map[string]*list.Element
	used   list.List // of *entry, the last used first
	stats  Stats
}

// entry is one result.
type entry struct {
	of   *layer.Set
	text string
	rows []uint64
}

// bytes returns about how much memory the entry takes.
func (e *entry) bytes() int64 {
	const overhead = 200 // of the entry, its place in the list and in the map
	return int64(8*len(e.rows) + len(e.text) + overhead)
}

// Stats describes a cache.
type Stats struct {
	Entries int
	Bytes   int64
	Hits    int64 // results that were there
	Misses  int64 // results that were not
	Evicted int64 // results that made room for others
}

// New returns an empty cache of at most budget bytes.
func New(budget int64) *Cache {
	return &Cache{budget: budget, of: map[*layer.Set]map[string]*list.Element{}}
}

// Rows returns the rows for which the condition that text stands for holds under some values: those kept, or what eval
// returns. Neither the caller nor eval may modify them afterwards. Two callers may evaluate the same at once.
func (c *Cache) Rows(of *layer.Set, text string, eval func() []uint64) []uint64 {
	if rows, ok := c.find(of, text); ok {
		return rows
	}
	rows := eval()
	c.add(&entry{of, text, rows})
	return rows
}

// Has reports whether a result is there.
func (c *Cache) Has(of *layer.Set, text string) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.of[of][text] != nil
}

func (c *Cache) find(of *layer.Set, text string) (rows []uint64, ok bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.of[of][text]
	if at == nil {
		c.stats.Misses++
		return nil, false
	}
	c.stats.Hits++
	c.used.MoveToFront(at)
	return at.Value.(*entry).rows, true
}

func (c *Cache) add(e *entry) {
	if c == nil || e.bytes() > c.budget {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of[e.of][e.text] != nil {
		return // another search was quicker
	}
	if c.of[e.of] == nil {
		c.of[e.of] = map[string]*list.Element{}
	}
	c.of[e.of][e.text] = c.used.PushFront(e)
	c.stats.Bytes += e.bytes()
	for c.stats.Bytes > c.budget {
		c.remove(c.used.Back())
		c.stats.Evicted++
	}
}

// remove removes an entry; the caller holds c.mu.
func (c *Cache) remove(at *list.Element) {
	e := c.used.Remove(at).(*entry)
	c.stats.Bytes -= e.bytes()
	delete(c.of[e.of], e.text)
	if len(c.of[e.of]) == 0 {
		delete(c.of, e.of)
	}
}

// Forget removes all results under some values, which no search uses any more.
func (c *Cache) Forget(of *layer.Set) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, at := range c.of[of] {
		c.remove(at)
	}
}

// Stats returns figures of the present content and of all use so far.
func (c *Cache) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.stats
	out.Entries = c.used.Len()
	return out
}

package metaquery

import (
	"cmp"
	"container/heap"
	"slices"
)

// entry is a hit without its metadata.
type entry struct {
	score float64
	id    string
	no    int64
	ord   int
}

// order puts the better of two hits first.
func order(a, b entry) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id), cmp.Compare(a.ord, b.ord))
}

// top keeps the best hits, at most keep of them, and counts all hits.
type top struct {
	keep  int
	total int
	heap  worstFirst
}

func (t *top) add(e entry) {
	t.total++
	t.offer(e)
}

func (t *top) offer(e entry) {
	switch {
	case len(t.heap) < t.keep:
		heap.Push(&t.heap, e)
	case t.keep > 0 && order(e, t.heap[0]) < 0:
		t.heap[0] = e
		heap.Fix(&t.heap, 0)
	}
}

// merge adds the hits of another top.
func (t *top) merge(other *top) {
	t.total += other.total
	for _, e := range other.heap {
		t.offer(e)
	}
}

// sorted returns the hits, best first.
func (t *top) sorted() []entry {
	out := slices.Clone(t.heap)
	slices.SortFunc(out, order)
	return out
}

// worstFirst is a heap.Interface with the worst hit at its top.
type worstFirst []entry

func (h worstFirst) Len() int           { return len(h) }
func (h worstFirst) Less(i, j int) bool { return order(h[i], h[j]) > 0 }
func (h worstFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *worstFirst) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *worstFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

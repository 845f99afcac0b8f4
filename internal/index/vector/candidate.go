package vector

import (
	"cmp"
	"slices"
)

// candidates gathers the rows that may be among the k best, by the high plane alone. A row's score lies
// within slack of its coarse score, so the k-th best coarse score less slack is a floor that k rows reach.
type candidates struct {
	k     int
	slack float64
	floor float64
	rows  []candidate
	heap  []float64 // the k best coarse scores, the worst at the root
}

type candidate struct {
	row    int32
	coarse float64
}

func (c *candidates) add(row int, coarse float64) {
	c.rows = append(c.rows, candidate{int32(row), coarse})
	switch {
	case len(c.heap) < c.k:
		c.heap = append(c.heap, coarse)
		c.up()
	case coarse > c.heap[0]:
		c.heap[0] = coarse
		c.down()
	default:
		return
	}
	if len(c.heap) == c.k {
		c.floor = max(c.floor, c.heap[0]-c.slack)
	}
}

func (c *candidates) up() {
	for i := len(c.heap) - 1; i > 0; {
		p := (i - 1) / 2
		if c.heap[p] <= c.heap[i] {
			return
		}
		c.heap[p], c.heap[i] = c.heap[i], c.heap[p]
		i = p
	}
}

func (c *candidates) down() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(c.heap) {
			return
		}
		if least+1 < len(c.heap) && c.heap[least+1] < c.heap[least] {
			least++
		}
		if c.heap[i] <= c.heap[least] {
			return
		}
		c.heap[i], c.heap[least] = c.heap[least], c.heap[i]
		i = least
	}
}

// best returns those that may still reach the floor, best first: in this order the floor rises fastest, and the fewest
// need their exact score.
func (c *candidates) best() []candidate {
	kept := slices.DeleteFunc(c.rows, func(x candidate) bool { return x.coarse+c.slack < c.floor })
	slices.SortFunc(kept, func(a, b candidate) int { return cmp.Compare(b.coarse, a.coarse) })
	return kept
}

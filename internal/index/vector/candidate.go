package vector

import (
	"cmp"
	"slices"
)

// Candidates gathers the rows that may be among the k best, by the high plane alone. A row's score lies within slack of its coarse
// score, so the k-th best coarse score less slack is a floor that k rows reach. Reset begins a search. Not safe for concurrent use.
type Candidates struct {
	k     int
	slack float64
	floor float64 // that the score of one that is of use reaches
	rows  []Near
	heap  []float64 // the k best coarse scores, the worst at the root
}

// Near is a row by the high plane alone: its score lies within the slack that is told with it of About.
type Near struct {
	Row   int32
	About float64
}

// Reset sets what another search wants, and lets go of all candidates.
func (c *Candidates) Reset(r *Rows, q *Query, k int, floor float64) {
	c.k, c.slack, c.floor = k, r.slack(q), floor
	c.rows, c.heap = c.rows[:0], c.heap[:0]
}

// Add adds row i, which was not added before, and reports true, unless the high plane proves that it is of no use.
func (c *Candidates) Add(r *Rows, q *Query, i int) bool {
	var dot [1]int32
	scan(q, r.Planes.Hi[i*r.Rotation.width:], dot[:])
	return c.add(i, r.coarse(q, i, dot[0]))
}

func (c *Candidates) add(row int, coarse float64) bool {
	if coarse+c.slack < c.floor {
		return false
	}
	c.rows = append(c.rows, Near{int32(row), coarse})
	switch {
	case len(c.heap) < c.k:
		c.heap = append(c.heap, coarse)
		c.up()
	case coarse > c.heap[0]:
		c.heap[0] = coarse
		c.down()
	default:
		return true
	}
	if len(c.heap) == c.k {
		c.floor = max(c.floor, c.heap[0]-c.slack)
	}
	return true
}

// Floor returns what the score of one that is of use reaches: -Inf while fewer were added than are wanted.
func (c *Candidates) Floor() float64 { return c.floor }

// Expected returns about the score of the k-th best so far, at least the floor.
func (c *Candidates) Expected() float64 {
	if len(c.heap) < c.k {
		return c.floor
	}
	return max(c.floor, c.heap[0])
}

func (c *Candidates) up() {
	for i := len(c.heap) - 1; i > 0; {
		p := (i - 1) / 2
		if c.heap[p] <= c.heap[i] {
			return
		}
		c.heap[p], c.heap[i] = c.heap[i], c.heap[p]
		i = p
	}
}

func (c *Candidates) down() {
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

// Near returns those that may reach the floor, the best first, and the slack of all. The high plane is looked at once more, with the
// query as it is: without what its 8 bits miss fewer are left. Only Reset may follow, and what is returned is valid until then.
func (c *Candidates) Near(r *Rows, q *Query) (near []Near, slack float64) {
	near = c.rows[:0]
	for _, x := range c.rows {
		if x.About+c.slack >= c.floor {
			near = append(near, Near{x.Row, r.About(q, int(x.Row))})
		}
	}
	slices.SortFunc(near, func(a, b Near) int { return cmp.Compare(b.About, a.About) })
	return near, r.Slack(q)
}

// Settle offers those that may reach the floor with their Score, and returns how many; offer returns the floor from then on. The best
// come first, so that the floor rises fastest. Only Reset may follow.
func (c *Candidates) Settle(r *Rows, q *Query, floor float64, offer func(row int, score float64) float64) (n int) {
	near, slack := c.Near(r, q)
	for n < len(near) && near[n].About+slack >= floor {
		floor = offer(int(near[n].Row), r.Score(q, int(near[n].Row)))
		n++
	}
	return n
}

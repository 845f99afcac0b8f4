package lists

import (
	"math/bits"
	"slices"

	"quarry/internal/index/vector"
)

// groups finds the centroids near a row without looking at all: they lie in about √n groups, of which only the nearest are
// looked into. Not safe for concurrent use.
type groups struct {
	means   vector.Coarse
	members vector.Coarse // the centroids, group by group
	list    []int32       // of each member
	start   []int         // of each group in members, and the end
	dots    []float32
	order   []ranked
}

const (
	nearGroups  = 24 // of 64, with which nearly every row finds its nearest centroid
	roughGroups = 6  // where the centroids will move anyway
	groupRounds = 4
)

// group groups centroids by spherical k-means, from centroids that are spread evenly over all.
func group(c *vector.Coarse) *groups {
	n, g := c.Len(), &groups{}
	count := 1 << (bits.Len(uint(n)) / 2)
	if n < 4*nearGroups {
		count = 1
	}
	values, means := make([]float32, n*c.Width), make([]float32, count*c.Width)
	asked := make([]*vector.Query, n)
	for i := range n {
		x := values[i*c.Width:][:c.Width]
		c.Values(i, x)
		asked[i] = vector.Rotated(x)
	}
	for i := range count {
		copy(means[i*c.Width:][:c.Width], values[i*n/count*c.Width:])
	}
	of, dots := make([]int, n), make([]float32, count)
	for range groupRounds {
		g.means = coarse(means, c.Width)
		clear(means)
		for i, q := range asked {
			g.means.Scan(q, 0, dots)
			of[i] = highest(dots)
			add(means[of[i]*c.Width:], values[i*c.Width:][:c.Width])
		}
	}
	last := g.means
	g.means, g.members = vector.Coarse{Width: c.Width}, vector.Coarse{Width: c.Width}
	for k := range count {
		if !slices.Contains(of, k) {
			continue // an empty group must not be taken for a near one
		}
		g.means.Hi = append(g.means.Hi, last.Hi[k*c.Width:][:c.Width]...)
		g.means.Scale = append(g.means.Scale, last.Scale[4*k:][:4]...)
		g.start = append(g.start, len(g.list))
		for i, o := range of {
			if o == k {
				g.list = append(g.list, int32(i))
				g.members.Hi = append(g.members.Hi, c.Hi[i*c.Width:][:c.Width]...)
				g.members.Scale = append(g.members.Scale, c.Scale[4*i:][:4]...)
			}
		}
	}
	g.start = append(g.start, n)
	g.dots = make([]float32, max(n, count))
	return g
}

// near calls f with the centroids of the nearest groups, as many as most, and their inner products with the query.
func (g *groups) near(q *vector.Query, most int, f func(list int32, dot float32)) {
	count := g.means.Len()
	g.means.Scan(q, 0, g.dots[:count])
	g.order = g.order[:0]
	for i, d := range g.dots[:count] {
		g.order = append(g.order, ranked{int32(i), d})
	}
	most = min(count, most)
	if most < count {
		partition(g.order, most)
	}
	slices.SortFunc(g.order[:most], func(a, b ranked) int { return int(a.list - b.list) })
	for _, o := range g.order[:most] {
		from, to := g.start[o.list], g.start[o.list+1]
		g.members.Scan(q, from, g.dots[:to-from])
		for i, d := range g.dots[:to-from] {
			f(g.list[from+i], d)
		}
	}
}

// partition moves the k best to the front (Hoare's quickselect).
func partition(h []ranked, k int) {
	for lo, hi := 0, len(h)-1; lo < hi; {
		p := h[(lo+hi)/2].score
		i, j := lo, hi
		for i <= j {
			for h[i].score > p {
				i++
			}
			for h[j].score < p {
				j--
			}
			if i <= j {
				h[i], h[j] = h[j], h[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return
		}
	}
}

func highest(x []float32) int {
	best := 0
	for i, v := range x {
		if v > x[best] {
			best = i
		}
	}
	return best
}

func add(to, x []float32) {
	to = to[:len(x)]
	for i, v := range x {
		to[i] += v
	}
}

package table

import (
	"cmp"
	"slices"
)

// axis is a horizontal rule at a height, from left to right, or a vertical one at a place of the line, from bottom to top.
type axis struct{ at, from, to float32 }

// Distances, in points, within which places are the same.
const (
	near  = 2.5 // of rules that belong together
	reach = 3.5 // from the end of a rule to the next piece, or to one that it meets
	open  = 8   // by which rules reach beyond the outermost ones that cross them where a side has none
)

// axes returns the horizontal and the vertical rules in ascending order, their pieces joined.
func axes(rules []Rule) (across, down []axis) {
	for _, r := range rules {
		if r.X1-r.X0 >= r.Y1-r.Y0 {
			across = append(across, axis{(r.Y0 + r.Y1) / 2, r.X0, r.X1})
		} else {
			down = append(down, axis{(r.X0 + r.X1) / 2, r.Y0, r.Y1})
		}
	}
	if across, down = join(across), join(down); len(across)+len(down) > maxRules {
		return nil, nil
	}
	return across, down
}

// join joins rules beside and behind each other.
func join(all []axis) []axis {
	slices.SortFunc(all, func(a, b axis) int { return cmp.Compare(a.at, b.at) })
	var out []axis
	for from := 0; from < len(all); {
		to, sum := from, float32(0)
		for to < len(all) && all[to].at-all[from].at <= near {
			sum += all[to].at - all[from].at
			to++
		}
		at := all[from].at + sum/float32(to-from)
		pieces := all[from:to]
		slices.SortFunc(pieces, func(a, b axis) int { return cmp.Compare(a.from, b.from) })
		open := len(out)
		for _, p := range pieces {
			if n := len(out); n > open && p.from <= out[n-1].to+reach {
				out[n-1].to = max(out[n-1].to, p.to)
				continue
			}
			out = append(out, axis{at, p.from, p.to})
		}
		from = to
	}
	return out
}

// meet reports whether a horizontal and a vertical rule touch.
func meet(h, v axis) bool {
	return v.at >= h.from-reach && v.at <= h.to+reach && h.at >= v.from-reach && h.at <= v.to+reach
}

// nets groups the rules that touch each other.
func (f *finder) nets() []net {
	parent := make([]int, len(f.across)+len(f.down))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, h := range f.across {
		from, _ := slices.BinarySearchFunc(f.down, h.from-reach, func(a axis, x float32) int { return cmp.Compare(a.at, x) })
		for j := from; j < len(f.down) && f.down[j].at <= h.to+reach && f.step(); j++ {
			if meet(h, f.down[j]) {
				parent[root(i)] = root(len(f.across) + j)
			}
		}
	}
	at := map[int]int{}
	var out []net
	place := func(i int) *net {
		r := root(i)
		if _, known := at[r]; !known {
			at[r] = len(out)
			out = append(out, net{})
		}
		return &out[at[r]]
	}
	for i, h := range f.across {
		n := place(i)
		n.across = append(n.across, h)
	}
	for j, v := range f.down {
		n := place(len(f.across) + j)
		n.down = append(n.down, v)
	}
	return out
}

// net is rules that touch each other.
type net struct{ across, down []axis }

// close adds the sides that a table may go without: rules that reach beyond the outermost ones that cross them.
func (n *net) close() {
	n.down = append(n.down, sides(n.across, n.down)...)
	n.across = append(n.across, sides(n.down, n.across)...)
}

// sides returns the rules that would stand at the common ends of rules that reach beyond those crossing them.
func sides(rules, crossing []axis) []axis {
	if len(rules) < 2 || len(crossing) == 0 {
		return nil
	}
	low, high := rules[0].from, rules[0].to
	bottom, top := rules[0].at, rules[0].at
	for _, r := range rules {
		low, high, bottom, top = min(low, r.from), max(high, r.to), min(bottom, r.at), max(top, r.at)
	}
	first, last := crossing[0].at, crossing[0].at
	for _, c := range crossing {
		first, last = min(first, c.at), max(last, c.at)
	}
	ending := func(at float32, end func(axis) float32) bool {
		n := 0
		for _, r := range rules {
			if d := end(r) - at; d > -reach && d < reach {
				n++
			}
		}
		return n >= 2
	}
	var out []axis
	if first-low > open && ending(low, func(a axis) float32 { return a.from }) {
		out = append(out, axis{low, bottom, top})
	}
	if high-last > open && ending(high, func(a axis) float32 { return a.to }) {
		out = append(out, axis{high, bottom, top})
	}
	return out
}

// places returns the distinct places of rules in ascending order.
func places(rules []axis) []float32 {
	var out []float32
	for _, r := range rules {
		out = append(out, r.at)
	}
	slices.Sort(out)
	kept := out[:0]
	for _, v := range out {
		if n := len(kept); n == 0 || v-kept[n-1] > reach {
			kept = append(kept, v)
		}
	}
	return kept
}

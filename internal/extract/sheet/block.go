package sheet

import (
	"cmp"
	"slices"
)

// box is a rectangle of cells, its borders inclusive.
type box struct{ top, left, bottom, right int }

// around returns the smallest box that holds both.
func (x box) around(y box) box {
	return box{min(x.top, y.top), min(x.left, y.left), max(x.bottom, y.bottom), max(x.right, y.right)}
}

// forest is a union-find structure over boxes. A root has the box around all of its tree.
type forest struct {
	parent []int
	boxes  []box
}

func newForest(boxes []box) *forest {
	f := &forest{make([]int, len(boxes)), slices.Clone(boxes)}
	for i := range f.parent {
		f.parent[i] = i
	}
	return f
}

func (f *forest) root(i int) int {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *forest) join(i, j int) {
	if i, j = f.root(i), f.root(j); i != j {
		f.parent[j] = i
		f.boxes[i] = f.boxes[i].around(f.boxes[j])
	}
}

// roots returns the boxes of all trees, from the top, those that begin in one row from the left.
func (f *forest) roots() []box {
	var out []box
	for i, p := range f.parent {
		if i == p {
			out = append(out, f.boxes[i])
		}
	}
	slices.SortFunc(out, func(a, b box) int { return cmp.Or(a.top-b.top, a.left-b.left) })
	return out
}

// maxPasses bounds how often boxes that have grown are held against the others again.
const maxPasses = 20

// blocks returns the boxes around filled cells that touch at their sides. Boxes that overlap are one.
func (s *Sheet) blocks() []box {
	runs := s.runs()
	f := newForest(runs)
	for i, j := 0, 0; i < len(runs) && j < len(runs); { // i is in the row above that of j
		switch above, below := runs[i], runs[j]; {
		case below.top <= above.top, below.top == above.top+1 && below.right < above.left:
			j++
		case below.top > above.top+1 || above.right < below.left:
			i++
		default:
			f.join(i, j)
			if above.right < below.right {
				i++
			} else {
				j++
			}
		}
	}
	found := f.roots()
	for range maxPasses {
		united := unite(found)
		if len(united) == len(found) {
			break
		}
		found = united
	}
	return found
}

// runs returns the filled cells without a gap between them, row by row, from the left.
func (s *Sheet) runs() []box {
	var out []box
	for _, in := range s.rows {
		for i, c := range in.cells {
			if i > 0 && in.cells[i-1].at == c.at-1 {
				out[len(out)-1].right = c.at
			} else {
				out = append(out, box{in.at, c.at, in.at, c.at})
			}
		}
	}
	return out
}

// unite joins boxes that overlap, in one sweep from the top. Boxes that grow on the way may overlap others yet.
func unite(boxes []box) []box {
	f := newForest(boxes)
	columns := make([]int, maxCols) // the box that was seen last in each, from 1
	for i, x := range boxes {
		for c := x.left; c <= x.right; c++ {
			if last := columns[c] - 1; last >= 0 && f.boxes[f.root(last)].bottom >= x.top {
				f.join(last, i)
			}
			columns[c] = i + 1
		}
	}
	return f.roots()
}

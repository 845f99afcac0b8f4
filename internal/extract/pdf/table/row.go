package table

import (
	"cmp"
	"slices"
)

// rows returns the row of each line, and how many there are. Cells of several lines are told by the rules between rows, by
// gaps, or by lines that only go on with what was begun.
func (f *finder) rows(g *grid, rules []float32) ([]int, int) {
	out := make([]int, len(g.lines))
	between := 0
	for i := 1; i < len(g.lines); i++ {
		if ruledBetween(rules, g.lines[i-1].y, g.lines[i].y) {
			between++
		}
	}
	tight := f.tight(g)
	if between == 0 && tight == 0 {
		if row, n := g.blocks(); n > 0 {
			return row, n
		}
	}
	n := 0
	for i := 1; i < len(g.lines); i++ {
		a, b := &g.lines[i-1], &g.lines[i]
		rule := ruledBetween(rules, a.y, b.y)
		switch {
		case between >= 3 && between*3 >= len(g.lines): // rules part the rows
			if rule {
				n++
			}
		case rule:
			n++
		case tight > 0: // gaps part them
			if a.y-b.y > tight {
				n++
			}
		case !g.goesOn(i):
			n++
		}
		out[i] = n
	}
	return out, n + 1
}

func ruledBetween(rules []float32, top, bottom float32) bool {
	return slices.ContainsFunc(rules, func(y float32) bool { return y < top && y > bottom })
}

// tight returns the distance of lines up to which they are of one row, or 0 where distances don't tell: two groups of distances
// do, of which the smaller ones are those of lines, if the lines after the larger ones begin with the first column.
func (f *finder) tight(g *grid) float32 {
	if len(g.lines) < 4 {
		return 0
	}
	var gaps []float32
	for i := 1; i < len(g.lines); i++ {
		gaps = append(gaps, g.lines[i-1].y-g.lines[i].y)
	}
	sorted := slices.Sorted(slices.Values(gaps))
	best, limit := float32(1.12), float32(0)
	for i := 1; i < len(sorted); i++ {
		if q := sorted[i] / max(sorted[i-1], 0.1); q > best {
			best, limit = q, (sorted[i]+sorted[i-1])/2
		}
	}
	if limit == 0 {
		return 0
	}
	size := g.lines[0].size
	begun, large, single, small := 0, 0, 0, 0
	for i, d := range gaps {
		first := g.place[i+1][0] == 0
		if d > limit {
			if large++; first {
				begun++
			}
		} else if small++; !first || len(g.lines[i+1].chunks) < len(g.columns) {
			single++
		}
	}
	if limit > 1.9*size || large < 2 || begun*4 < large*3 || single*2 < small {
		return 0
	}
	return limit
}

// parts reports whether distances part rows of several lines.
func (f *finder) parts(g *grid) bool {
	_, n := g.blocks()
	return n > 0 || f.tight(g) > 0
}

// blocks returns the row of each line, and how many there are, where cells of several lines tell: in each column lines that follow closely
// are one cell, and cells that stand beside each other are one row, whether their lines are at the same heights or set to the
// middle of the row. It returns 0 where lines of cells are as far apart as rows.
func (g *grid) blocks() (row []int, n int) {
	type cell struct{ bottom, top, last float32 }
	size := g.lines[0].size
	lines := func(visit func(c int, y float32)) {
		for i := range g.lines {
			for j := range g.lines[i].chunks {
				visit(g.place[i][j], g.lines[i].y)
			}
		}
	}
	last := make([]float32, len(g.columns))
	least := 1.4 * size // of lines in a cell
	lines(func(c int, y float32) {
		if d := last[c] - y; d > 0.5*size {
			least = min(least, d)
		}
		last[c] = y
	})
	open := make([]cell, len(g.columns))
	var all []cell
	lines(func(c int, y float32) {
		if o := &open[c]; o.top > 0 && o.last-y <= 1.12*least {
			o.bottom, o.last = y-0.2*size, y
			return
		}
		if open[c].top > 0 {
			all = append(all, open[c])
		}
		open[c] = cell{y - 0.2*size, y + 0.8*size, y}
	})
	all = append(all, slices.DeleteFunc(open, func(c cell) bool { return c.top == 0 })...)
	slices.SortFunc(all, func(a, b cell) int { return cmp.Compare(b.top, a.top) })
	var rows []cell
	for _, c := range all {
		if k := len(rows) - 1; k >= 0 && c.top > rows[k].bottom+0.1*size {
			rows[k].bottom = min(rows[k].bottom, c.bottom)
			continue
		}
		rows = append(rows, c)
	}
	first := make([]bool, len(rows))
	row = make([]int, len(g.lines))
	for i := range g.lines {
		for n+1 < len(rows) && g.lines[i].y < rows[n].bottom {
			n++
		}
		row[i] = n
		first[n] = first[n] || g.place[i][0] == 0
	}
	begun := 0
	for _, b := range first {
		if b {
			begun++
		}
	}
	if len(rows) < 3 || len(rows) == len(g.lines) || begun*4 < len(rows)*3 {
		return nil, 0
	}
	return row, len(rows)
}

// goesOn reports whether a line goes on with cells of the line before: it has nothing in the first column and fewer texts, each below one
// that reaches far to the right.
func (g *grid) goesOn(i int) bool {
	a, b := &g.lines[i-1], &g.lines[i]
	if a.y-b.y > 1.6*max(a.size, b.size) || g.place[i][0] == 0 || len(b.chunks)*2 > len(g.columns) {
		return false
	}
	for j := range b.chunks {
		above := slices.IndexFunc(g.place[i-1], func(c int) bool { return c == g.place[i][j] })
		if above < 0 {
			return false
		}
		if widest := g.width(g.place[i][j]); a.chunks[above].x1-a.chunks[above].x0 < 0.6*widest {
			return false
		}
	}
	return true
}

// width returns the width of the widest text of a column.
func (g *grid) width(c int) (most float32) {
	for i := range g.lines {
		for j, k := range g.lines[i].chunks {
			if g.place[i][j] == c && g.end[i][j] == c+1 {
				most = max(most, k.x1-k.x0)
			}
		}
	}
	return most
}

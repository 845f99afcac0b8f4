package table

import (
	"cmp"
	"slices"
)

// gutters returns the strips between the chunks of lines that at most some lines cross.
func gutters(lines []line, some int) []axis {
	type edge struct {
		x    float32
		step int
	}
	var edges []edge
	for i := range lines {
		if len(lines[i].chunks) < 2 && len(lines) > 2 && i > 0 {
			continue // what a line of one chunk covers says nothing of columns
		}
		for _, c := range lines[i].chunks {
			edges = append(edges, edge{c.x0, 1}, edge{c.x1, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.step, a.step)) })
	var out []axis
	depth, seen := 0, 0
	for i, e := range edges {
		depth += e.step
		if e.step > 0 {
			seen++
		}
		if depth > some || i+1 == len(edges) {
			continue
		}
		next := edges[i+1].x
		switch n := len(out) - 1; {
		case seen <= some || next <= e.x:
		case n >= 0 && out[n].to >= e.x:
			out[n].to = next
		default:
			out = append(out, axis{e.x, e.x, next})
		}
	}
	least := 0.5 * lines[0].size
	return slices.DeleteFunc(out, func(a axis) bool { return a.to-a.from < least })
}

// grid is lines and the columns in which their chunks stand.
type grid struct {
	lines   []line
	columns []axis  // from where to where texts stand
	place   [][]int // for each line and chunk its first column
	end     [][]int // and the one behind its last
}

// grid returns the columns of lines, or nil if they make no table.
func (f *finder) grid(lines []line) *grid {
	full, single := 0, 0
	for i := range lines {
		switch {
		case len(lines[i].chunks) > 1:
			full++
		case i == 0 || !beside(&lines[i-1], &lines[i]):
			single++
		}
	}
	if full < 2 || full*2 < single {
		return nil
	}
	some := 0
	if full > 2 {
		some = max(1, full*15/100)
	}
	for ; some >= 0; some-- {
		g := f.lay(lines, gutters(lines, some))
		if g != nil && f.table(g, full) {
			return g
		}
	}
	return nil
}

// lay puts the chunks of lines into the columns between strips.
func (f *finder) lay(lines []line, strips []axis) *grid {
	if len(strips) == 0 {
		return nil
	}
	g := &grid{lines: lines, columns: make([]axis, len(strips)+1)}
	low := float32(-1e6)
	for i := range g.columns {
		high := float32(1e6)
		if i < len(strips) {
			high = strips[i].from
		}
		g.columns[i] = axis{0, low, high}
		if i < len(strips) {
			low = strips[i].to
		}
	}
	for i := range lines {
		place, end := make([]int, len(lines[i].chunks)), make([]int, len(lines[i].chunks))
		for j, c := range lines[i].chunks {
			for place[j]+1 < len(g.columns) && g.columns[place[j]].to < c.x0+0.01 {
				place[j]++
			}
			end[j] = place[j] + 1
			for end[j] < len(g.columns) && g.columns[end[j]].from < c.x1-0.01 {
				end[j]++
			}
		}
		g.place, g.end = append(g.place, place), append(g.end, end)
	}
	for i := range g.columns { // the outer sides are those of the texts
		for n := range lines {
			for j, c := range lines[n].chunks {
				if g.place[n][j] == i && g.end[n][j] == i+1 {
					if g.columns[i].at == 0 || c.x0 < g.columns[i].at {
						g.columns[i].at = c.x0
					}
				}
			}
		}
	}
	return g
}

// beside returns the lines on both sides of a strip if one of them is prose, or if a long rule parts them, so that both are read
// by themselves.
func (f *finder) beside(lines []line) (left, right []line) {
	for _, s := range gutters(lines, len(lines)*15/100) {
		if f.over(s, lines) >= 2 {
			continue
		}
		left, right = part(lines, -1e6, s.to), part(lines, s.from, 1e6)
		if len(left) > 0 && len(right) > 0 && f.parted(s, lines) {
			return left, right
		}
		if len(left) >= 3 && len(right) >= 3 && (proseOf(left) || proseOf(right)) && (len(left)*2 > len(lines) && len(right)*2 > len(lines)) {
			return left, right
		}
	}
	return nil, nil
}

// parted reports whether a vertical rule stands in a strip that is much higher than the lines: it parts columns of the page.
func (f *finder) parted(s axis, lines []line) bool {
	top, bottom := lines[0].y, lines[len(lines)-1].y
	return slices.ContainsFunc(f.down, func(a axis) bool {
		return a.at > s.from && a.at < s.to && a.from <= bottom && a.to >= top && a.to-a.from > 1.3*(top-bottom)+6*lines[0].size
	})
}

// over counts the rules that cross a strip.
func (f *finder) over(s axis, lines []line) (n int) {
	top, bottom := lines[0].y+2*lines[0].size, lines[len(lines)-1].y-lines[0].size
	for _, a := range f.across {
		if a.at <= top && a.at >= bottom && a.from < s.from && a.to > s.to {
			n++
		}
	}
	return n
}

// proseOf reports whether most lines are one text that fills them.
func proseOf(lines []line) bool {
	low, high := lines[0].x0(), lines[0].x1()
	for i := range lines {
		low, high = min(low, lines[i].x0()), max(high, lines[i].x1())
	}
	whole, wide, em := 0, 0, float32(0)
	for i := range lines {
		l := &lines[i]
		if len(l.chunks) == 1 {
			whole++
		}
		if l.x1()-l.x0() >= 0.7*(high-low) {
			wide++
		}
		em += (l.x1() - l.x0()) / l.size
	}
	return whole*10 >= 9*len(lines) && wide*2 >= len(lines) && em >= lineOfText*float32(len(lines))
}

// framed reports whether two horizontal rules at least go along the whole of the lines.
func (f *finder) framed(g *grid) bool { return len(f.along(g)) >= 2 }

// along returns the heights of the rules that go along the whole of the lines, from the top down.
func (f *finder) along(g *grid) []float32 {
	first, last := &g.lines[0], &g.lines[len(g.lines)-1]
	x0, x1 := first.x0(), first.x1()
	for i := range g.lines {
		x0, x1 = min(x0, g.lines[i].x0()), max(x1, g.lines[i].x1())
	}
	var out []float32
	for _, a := range slices.Backward(f.across) {
		if a.at < first.y+2.5*first.size && a.at > last.y-2*last.size && a.from <= x0+0.1*(x1-x0) && a.to >= x1-0.1*(x1-x0) {
			out = append(out, a.at)
		}
	}
	return out
}

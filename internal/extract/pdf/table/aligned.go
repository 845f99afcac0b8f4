package table

import (
	"slices"
	"strings"
)

// maxLines bounds the lines of a page that are searched for columns.
const maxLines = 1500

// aligned finds the tables among the other words, whose cells stand below each other.
func (f *finder) aligned() {
	var regions [][]int
	for i := range f.words {
		if f.taken[i] {
			continue
		}
		for n := f.words[i].Region; n >= len(regions); {
			regions = append(regions, nil)
		}
		regions[f.words[i].Region] = append(regions[f.words[i].Region], i)
	}
	for _, words := range regions {
		if lines := f.lines(words); len(lines) <= maxLines {
			f.search(lines, 0)
		}
	}
}

// search finds the tables among the lines of a region.
func (f *finder) search(lines []line, depth int) {
	for from := 0; from < len(lines) && f.step(); {
		to := f.run(lines, from)
		if to-from >= 2 {
			f.columns(lines[from:to], depth)
		}
		from = max(to, from+1)
	}
}

// run returns the end of the lines from the given one on that may be those of a table: each has several chunks, or
// stands between such lines, not too far from the next.
func (f *finder) run(lines []line, from int) int {
	if len(lines[from].chunks) < 2 {
		return from + 1
	}
	end, single := from+1, 0
	for i := from + 1; i < len(lines); i++ {
		a, b := &lines[i-1], &lines[i]
		if a.y-b.y > 3*max(a.size, b.size) || f.between(a.y, b.y) {
			break
		}
		if len(b.chunks) > 1 {
			end, single = i+1, 0
			continue
		}
		if beside(a, b) {
			continue
		}
		if single++; single > 3 {
			break
		}
	}
	last := &lines[end-1]
	for end < len(lines) && end > from+1 { // the last cells may go on
		a, b := &lines[end-1], &lines[end]
		if len(b.chunks) > 1 || a.y-b.y > 1.35*max(a.size, b.size) || a.size-b.size > 0.1*a.size || b.size-a.size > 0.1*a.size ||
			!slices.ContainsFunc(last.chunks[1:], func(c chunk) bool { return near > c.x0-b.x0() && near > b.x0()-c.x0 }) {
			break
		}
		end++
	}
	return end
}

// beside reports whether a line stands so close below another that they are of cells beside each other, as no lines of prose are.
func beside(a, b *line) bool { return a.y-b.y < 0.95*min(a.size, b.size) }

// between reports whether a table that was found already stands between two heights.
func (f *finder) between(top, bottom float32) bool {
	return slices.ContainsFunc(f.found, func(t Table) bool { return t.Y1 < top && t.Y0 > bottom })
}

// maxDepth bounds how often lines are divided in search of a table among them.
const maxDepth = 8

// columns adds the table that lines make, or those that parts of them make.
func (f *finder) columns(lines []line, depth int) {
	for len(lines) > 0 && len(lines[0].chunks) < 2 {
		lines = lines[1:]
	}
	if len(lines) < 2 || !f.step() {
		return
	}
	if left, right := f.beside(lines); left != nil && depth < maxDepth {
		f.search(left, depth+1)
		f.search(right, depth+1)
		return
	}
	for _, side := range f.sides(lines) {
		if g := f.grid(side); g != nil {
			f.build(g)
			continue
		}
		if cut := widest(side); cut > 0 && depth < maxDepth {
			f.columns(side[:cut], depth+1)
			f.columns(side[cut:], depth+1)
		}
	}
}

// widest returns the index of the line below the widest gap, if it is wider than usual, else where the number of chunks changes
// most, or 0.
func widest(lines []line) int {
	best, at := float32(0), 0
	var gaps []float32
	for i := 1; i < len(lines); i++ {
		g := lines[i-1].y - lines[i].y
		gaps = append(gaps, g)
		if g > best {
			best, at = g, i
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	if best > 1.15*gaps[len(gaps)/2] {
		return at
	}
	most := 0
	for i := 1; i < len(lines); i++ {
		d := len(lines[i-1].chunks) - len(lines[i].chunks)
		if d = max(d, -d); d > most {
			most, at = d, i
		}
	}
	if most == 0 {
		return 0
	}
	return at
}

// sides divides lines at a strip that is empty all the way down where two tables stand beside each other: rules end on both of
// its sides, or the first lines of both are the same.
func (f *finder) sides(lines []line) [][]line {
	strips := gutters(lines, 0)
	for _, s := range strips {
		left, right := part(lines, -1e6, s.to), part(lines, s.from, 1e6)
		if s.to-s.from < 1.5*lines[0].size || !several(left) || !several(right) || !f.apart(s, lines) && !f.twins(left, right) {
			continue
		}
		return append(f.sides(left), f.sides(right)...)
	}
	return [][]line{lines}
}

// several reports whether half of the lines have several chunks.
func several(lines []line) bool {
	n := 0
	for i := range lines {
		if len(lines[i].chunks) > 1 {
			n++
		}
	}
	return n >= 2 && n*2 >= len(lines)
}

// apart reports whether rules at two heights at least end on both sides of a strip.
func (f *finder) apart(s axis, lines []line) bool {
	top, bottom := lines[0].y+2*lines[0].size, lines[len(lines)-1].y-lines[0].size
	left, right, over := 0, 0, 0
	for _, a := range f.across {
		switch {
		case a.at > top || a.at < bottom:
		case a.from < s.from && a.to > s.to:
			over++
		case a.to <= s.to+near && a.to > s.from-4*lines[0].size:
			left++
		case a.from >= s.from-near && a.from < s.to+4*lines[0].size:
			right++
		}
	}
	return left >= 2 && right >= 2 && over == 0
}

// twins reports whether the first lines have the same texts.
func (f *finder) twins(left, right []line) bool {
	a, b := &left[0], &right[0]
	if len(a.chunks) != len(b.chunks) || len(a.chunks) < 2 {
		return false
	}
	for i := range a.chunks {
		if f.text(a.chunks[i].words) != f.text(b.chunks[i].words) {
			return false
		}
	}
	return true
}

func (f *finder) text(words []int) string {
	var all []string
	for _, w := range words {
		all = append(all, f.words[w].Text)
	}
	return strings.Join(all, " ")
}

// part returns the lines between two places.
func part(lines []line, from, to float32) []line {
	var out []line
	for i := range lines {
		l := line{y: lines[i].y, size: lines[i].size}
		for _, c := range lines[i].chunks {
			if c.x0 >= from-near && c.x1 <= to+near {
				l.chunks = append(l.chunks, c)
			}
		}
		if len(l.chunks) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// build adds the table of a grid.
func (f *finder) build(g *grid) {
	rules := f.along(g)
	row, rows := f.rows(g, rules)
	t := Table{Rows: rows}
	for _, c := range g.columns {
		t.Columns = append(t.Columns, c.at)
	}
	first, last := &g.lines[0], &g.lines[len(g.lines)-1]
	t.X0, t.X1, t.Y1, t.Y0 = first.x0(), first.x1(), first.y+0.8*first.size, last.y-0.2*last.size
	cells := map[[2]int]int{}
	for i := range g.lines {
		t.X0, t.X1 = min(t.X0, g.lines[i].x0()), max(t.X1, g.lines[i].x1())
		for j, k := range g.lines[i].chunks {
			from, to := g.place[i][j], g.end[i][j]
			if row[i] < 2 {
				from, to = f.under(g, i, j)
			}
			at := [2]int{row[i], from}
			n, known := cells[at]
			if !known {
				n = len(t.Cells)
				cells[at] = n
				t.Cells = append(t.Cells, Cell{row[i], from, 1, to - from, nil})
			}
			t.Cells[n].Columns = max(t.Cells[n].Columns, to-from)
			t.Cells[n].Words = append(t.Cells[n].Words, k.words...)
		}
	}
	t.Columns = append(t.Columns, t.X1)
	f.headers(&t)
	if len(rules) > 1 { // what stands between the first rules inside names columns
		for i := range g.lines {
			if inner := rules[1]; rules[0] > g.lines[0].y && g.lines[i].y > inner && row[i]+1 < rows && row[i] < 4 {
				t.Header = max(t.Header, row[i]+1)
			}
		}
	}
	f.add(t)
}

// under returns the columns that a chunk names: those that it stands over, or those of the rule right below it.
func (f *finder) under(g *grid, i, j int) (from, to int) {
	from, to = g.place[i][j], g.end[i][j]
	k, l := &g.lines[i].chunks[j], &g.lines[i]
	for _, a := range f.across {
		if a.at > l.y || a.at < l.y-1.2*l.size || a.from > k.x0+near || a.to < k.x1-near {
			continue
		}
		first, last := -1, -1
		for c := range g.columns {
			if s := g.columns[c]; a.from <= s.at+near && a.to > s.at+near {
				if last = c; first < 0 {
					first = c
				}
			}
		}
		if first >= 0 && first <= from && last+1 >= to && last+1-first < len(g.columns) {
			return first, last + 1
		}
	}
	return from, to
}

package table

import "slices"

// lattices finds the tables with rules around their cells.
func (f *finder) lattices() {
	var all []Table
	for _, n := range f.nets() {
		if len(n.across)+len(n.down) < 3 || !f.step() {
			continue
		}
		n.close()
		l := newLattice(&n, f.step)
		if l == nil {
			continue
		}
		if t, ok := f.fill(l); ok {
			all = append(all, t)
		}
	}
	for i := range all { // a table inside a cell of another one is text of that cell
		inside := slices.ContainsFunc(all, func(o Table) bool {
			return (o.X1-o.X0)*(o.Y1-o.Y0) > (all[i].X1-all[i].X0)*(all[i].Y1-all[i].Y0) &&
				o.X0 <= all[i].X0+near && o.X1 >= all[i].X1-near && o.Y0 <= all[i].Y0+near && o.Y1 >= all[i].Y1-near
		})
		if inside {
			continue
		}
		if f.leave(&all[i]); f.sound(&all[i]) {
			f.add(all[i])
		}
	}
}

// leave takes the words out of a table that are in another one already: rules may lie over each other without meeting.
func (f *finder) leave(t *Table) {
	for i := range t.Cells {
		c := &t.Cells[i]
		c.Words = slices.DeleteFunc(c.Words, func(w int) bool { return f.taken[w] })
	}
}

// lattice is the places between rules, row by row from the top.
type lattice struct {
	xs, ys        []float32 // the rules, ys from the top down
	right, bottom []bool    // for each place whether a rule stands there
	cell          []int     // for each place the number of its cell
	cells         []box
}

// box is the places of a cell; the ends are exclusive.
type box struct{ row, column, rowEnd, columnEnd int }

func (b *box) include(o box) {
	b.row, b.column = min(b.row, o.row), min(b.column, o.column)
	b.rowEnd, b.columnEnd = max(b.rowEnd, o.rowEnd), max(b.columnEnd, o.columnEnd)
}

// newLattice returns the places between the rules of a net, or nil if these enclose fewer than two.
func newLattice(n *net, step func() bool) *lattice {
	l := &lattice{xs: places(n.down), ys: places(n.across)}
	slices.Reverse(l.ys)
	width, height := len(l.xs)-1, len(l.ys)-1
	if width < 1 || height < 1 || width*height < 2 || width*height > maxPlaces {
		return nil
	}
	l.right, l.bottom = make([]bool, width*height), make([]bool, width*height)
	for _, v := range n.down {
		c := at(l.xs, v.at) - 1
		for r := 0; r < height && c >= 0 && c < width; r++ {
			if covers(v, l.ys[r+1], l.ys[r]) {
				l.right[r*width+c] = true
			}
		}
	}
	for _, h := range n.across {
		r := slices.IndexFunc(l.ys, func(y float32) bool { return y-h.at >= -reach && y-h.at <= reach }) - 1
		for c := 0; c < width && r >= 0 && r < height; c++ {
			if covers(h, l.xs[c], l.xs[c+1]) {
				l.bottom[r*width+c] = true
			}
		}
	}
	l.merge(width, height, step)
	return l
}

// at returns the index of the place that a rule stands at, or -1.
func at(places []float32, v float32) int {
	return slices.IndexFunc(places, func(p float32) bool { return p-v >= -reach && p-v <= reach })
}

// covers reports whether a rule covers most of the way between two places.
func covers(a axis, from, to float32) bool {
	return min(a.to, to)-max(a.from, from) >= 0.6*(to-from)
}

// merge joins the places without a rule between them to cells. A cell is a rectangle: one that would not be is extended.
func (l *lattice) merge(width, height int, step func() bool) {
	l.cell = make([]int, width*height)
	parent := make([]box, width*height)
	root := make([]int, width*height)
	for i := range root {
		root[i] = i
		parent[i] = box{i / width, i % width, i/width + 1, i%width + 1}
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	union := func(a, b int) bool {
		if a, b = find(a), find(b); a == b {
			return false
		}
		root[b] = a
		parent[a].include(parent[b])
		return true
	}
	for i := range root {
		if i%width+1 < width && !l.right[i] {
			union(i, i+1)
		}
		if i/width+1 < height && !l.bottom[i] {
			union(i, i+width)
		}
	}
	for changed := true; changed; {
		changed = false
		for i := range root {
			if root[i] != i {
				continue
			}
			b := parent[i]
			for r := b.row; r < b.rowEnd && step(); r++ {
				for c := b.column; c < b.columnEnd; c++ {
					changed = union(i, r*width+c) || changed
				}
			}
			if find(i) != i {
				changed = true
			}
		}
	}
	number := map[int]int{}
	for i := range root {
		r := find(i)
		n, known := number[r]
		if !known {
			n = len(l.cells)
			number[r] = n
			l.cells = append(l.cells, parent[r])
		}
		l.cell[i] = n
	}
}

// fill puts the words of the page into the cells, and reports whether they make a table.
func (f *finder) fill(l *lattice) (Table, bool) {
	width := len(l.xs) - 1
	words := make([][]int, len(l.cells))
	for i := range f.words {
		w := &f.words[i]
		x, y := (w.X0+w.X1)/2, w.Y+0.3*w.Size
		if x < l.xs[0] || x > l.xs[width] || y > l.ys[0] || y < l.ys[len(l.ys)-1] || f.taken[i] {
			continue
		}
		c, r := 0, 0
		for c+1 < width && l.xs[c+1] < x {
			c++
		}
		for r+1 < len(l.ys)-1 && l.ys[r+1] > y {
			r++
		}
		n := l.cell[r*width+c]
		words[n] = append(words[n], i)
	}
	t := Table{
		X0: l.xs[0], X1: l.xs[width], Y0: l.ys[len(l.ys)-1], Y1: l.ys[0],
		Columns: l.xs, Rows: len(l.ys) - 1, Ruled: true,
	}
	for i, b := range l.cells {
		t.Cells = append(t.Cells, Cell{b.row, b.column, b.rowEnd - b.row, b.columnEnd - b.column, words[i]})
	}
	t.drop()
	f.divide(&t)
	if !f.sound(&t) {
		return t, false
	}
	f.headers(&t)
	return t, true
}

// drop removes rows and columns that hold nothing of their own.
func (t *Table) drop() {
	own := make([]bool, t.Rows)
	ownColumn := make([]bool, len(t.Columns)-1)
	for i := range t.Cells {
		if c := &t.Cells[i]; len(c.Words) > 0 {
			own[c.Row], ownColumn[c.Column] = true, true
		}
	}
	row, column := renumber(own), renumber(ownColumn)
	var columns []float32
	for i, x := range t.Columns {
		if i == len(t.Columns)-1 || ownColumn[i] {
			columns = append(columns, x)
		}
	}
	var cells []Cell
	for _, c := range t.Cells {
		from, to := row[c.Row], row[c.Row+c.Rows]
		left, right := column[c.Column], column[c.Column+c.Columns]
		if to > from && right > left {
			cells = append(cells, Cell{from, left, to - from, right - left, c.Words})
		}
	}
	t.Cells, t.Columns, t.Rows = cells, columns, row[len(own)]
}

// renumber returns for each index, and the one behind the last, how many before it are kept.
func renumber(kept []bool) []int {
	out := make([]int, len(kept)+1)
	for i, k := range kept {
		out[i+1] = out[i]
		if k {
			out[i+1]++
		}
	}
	return out
}

// divide divides a row into several where rules only stand between columns: each column has a text on each line.
func (f *finder) divide(t *Table) {
	if t.Rows > 3 { // rules stand between rows, too
		return
	}
	for r := 0; r < t.Rows; r++ {
		var cells []int
		whole := true
		for i := range t.Cells {
			if c := &t.Cells[i]; c.Row <= r && r < c.Row+c.Rows {
				cells = append(cells, i)
				whole = whole && c.Rows == 1 && c.Columns == 1
			}
		}
		if !whole || len(cells) < 2 {
			continue
		}
		parts := f.linesBeside(t, cells)
		if len(parts) < 3 {
			continue
		}
		for i := range t.Cells {
			if c := &t.Cells[i]; c.Row > r {
				c.Row += len(parts) - 1
			}
		}
		t.Rows += len(parts) - 1
		for _, i := range cells {
			all := t.Cells[i]
			t.Cells[i].Words = nil
			for n, p := range parts {
				part := Cell{r + n, all.Column, 1, 1, nil}
				for _, w := range all.Words {
					if p.from < f.words[w].Y && f.words[w].Y <= p.to {
						part.Words = append(part.Words, w)
					}
				}
				if n == 0 {
					t.Cells[i] = part
				} else {
					t.Cells = append(t.Cells, part)
				}
			}
		}
		r += len(parts) - 1
	}
}

// linesBeside returns the heights of lines if all cells beside each other have their texts on the same ones, and most have one on
// each.
func (f *finder) linesBeside(t *Table, cells []int) []axis {
	var words []int
	for _, i := range cells {
		words = append(words, t.Cells[i].Words...)
	}
	all := f.lines(words)
	if len(all) < 3 {
		return nil
	}
	full := 0
	for i := range all {
		if first := all[i].chunks[0].words; bullet(f.words[first[0]].Text) || mark(f.words[first[0]].Text) {
			return nil
		}
	}
	for _, i := range cells {
		own := f.lines(t.Cells[i].Words)
		if len(own) == len(all) {
			full++
		}
		if i == cells[0] && len(own) < len(all) {
			return nil
		}
	}
	if full*3 < len(cells)*2 {
		return nil
	}
	out := make([]axis, len(all))
	for i := range all {
		if out[i].from = -1e6; i+1 < len(all) {
			out[i].from = (all[i].y + all[i+1].y) / 2
		}
		if out[i].to = 1e6; i > 0 {
			out[i].to = out[i-1].from
		}
	}
	return out
}

// maxCell bounds a usual cell, in bytes: longer ones are text that is laid out in boxes.
const maxCell = 600

// sound reports whether cells are those of a table: two rows and two columns at least, enough of them filled, no pages of text.
func (f *finder) sound(t *Table) bool {
	rows, columns := map[int]bool{}, map[int]bool{}
	filled, places := 0, 0
	var sizes []int
	for i := range t.Cells {
		c := &t.Cells[i]
		places++
		if len(c.Words) == 0 {
			continue
		}
		filled++
		rows[c.Row], columns[c.Column] = true, true
		n := 0
		for _, w := range c.Words {
			n += len(f.words[w].Text) + 1
		}
		sizes = append(sizes, n)
	}
	slices.Sort(sizes)
	return len(rows) >= 2 && len(columns) >= 2 && filled >= 3 && filled*5 >= places && sizes[len(sizes)/2] <= maxCell
}

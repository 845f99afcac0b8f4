// Package table finds tables on a page of which only the places of words and lines are known: those with rules around their
// cells (lattice.go) and those whose cells only stand below each other (aligned.go). It looks at geometry and at the
// form of texts, never at a language, and the same page always has the same tables.
package table

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Word is a text without white space and its place in points, where y grows upwards and is that of the baseline.
type Word struct {
	Text            string
	X0, X1, Y, Size float32
	Bold            bool
	// Region is the part of the page that the word is read in, such as a column of text. A table without rules is in one region.
	Region int
}

// Rule is a horizontal or vertical line, with X0 <= X1 and Y0 <= Y1, of which one pair is equal.
type Rule struct{ X0, Y0, X1, Y1 float32 }

// Page is what is known of a page.
type Page struct {
	Words []Word
	Rules []Rule
}

// Table is a table and its place.
type Table struct {
	X0, Y0, X1, Y1 float32
	Columns        []float32 // where columns begin, and where the last one ends
	Rows           int
	Header         int // rows at the top that name columns
	Cells          []Cell
	Ruled          bool // it has rules around its cells
}

// Cell is a cell of a table that covers some of its rows and columns.
type Cell struct {
	Row, Column, Rows, Columns int
	Words                      []int // of the page
}

// Limits of a page, beyond which it is a drawing.
const (
	maxWords  = 20_000
	maxRules  = 3_000  // once pieces of a rule are joined
	maxPlaces = 20_000 // of a table
)

// Find returns the tables of a page from the top down. It ends early, with what it has, as soon as step returns false.
func Find(p Page, step func() bool) []Table {
	if len(p.Words) < 4 || len(p.Words) > maxWords {
		return nil
	}
	across, down := axes(p.Rules)
	f := finder{words: p.Words, across: across, down: down, taken: make([]bool, len(p.Words)), step: step}
	f.lattices()
	f.aligned()
	slices.SortStableFunc(f.found, func(a, b Table) int { return cmp.Or(cmp.Compare(b.Y1, a.Y1), cmp.Compare(a.X0, b.X0)) })
	return f.found
}

type finder struct {
	words        []Word
	across, down []axis // horizontal and vertical rules
	taken        []bool // words that are in a table
	found        []Table
	step         func() bool
}

// add adds a table and takes its words.
func (f *finder) add(t Table) {
	for i := range t.Cells {
		for _, w := range t.Cells[i].Words {
			f.taken[w] = true
		}
	}
	f.found = append(f.found, t)
}

// line is the words of a line, from left to right, divided into chunks by gaps that are wider than spaces between words.
type line struct {
	chunks  []chunk
	y, size float32
}

type chunk struct {
	words        []int
	x0, x1, size float32
	bold         bool
}

func (l *line) x0() float32 { return l.chunks[0].x0 }
func (l *line) x1() float32 { return l.chunks[len(l.chunks)-1].x1 }

// gap is the width, in sizes of the font, from which a gap separates cells.
const gap = 0.9

// lines groups words by their baselines, from the top down. Small letters above and below the line are of it.
func (f *finder) lines(words []int) []line {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b int) int { return cmp.Compare(f.words[b].Y, f.words[a].Y) })
	var out []line
	for from := 0; from < len(words) && f.step(); {
		y, size := f.words[words[from]].Y, f.words[words[from]].Size
		to := from
		for ; to < len(words); to++ {
			w := &f.words[words[to]]
			if d := y - w.Y; d > 0.45*max(size, w.Size) || d > 0.8*min(size, w.Size)+1 {
				break
			}
			if w.Size > size {
				y, size = w.Y, w.Size
			}
		}
		out = append(out, f.line(words[from:to], y, size))
		from = to
	}
	return out
}

func (f *finder) line(words []int, y, size float32) line {
	slices.SortStableFunc(words, func(a, b int) int { return cmp.Compare(f.words[a].X0, f.words[b].X0) })
	l := line{y: y, size: size}
	for _, i := range words {
		w := &f.words[i]
		if n := len(l.chunks) - 1; n >= 0 && w.X0-l.chunks[n].x1 < gap*min(w.Size, l.chunks[n].size) && !f.ruled(l.chunks[n].x1, w.X0, w.Y, w.Size) {
			c := &l.chunks[n]
			c.words, c.x1, c.size, c.bold = append(c.words, i), max(c.x1, w.X1), max(c.size, w.Size), c.bold && w.Bold
			continue
		}
		l.chunks = append(l.chunks, chunk{words: []int{i}, x0: w.X0, x1: w.X1, size: w.Size, bold: w.Bold})
	}
	for i := 0; i+1 < len(l.chunks); { // the bullet of a list item belongs to the text behind it
		c, next := &l.chunks[i], l.chunks[i+1]
		if len(c.words) > 1 || !bullet(f.words[c.words[0]].Text) || next.x0-c.x1 > 3*c.size {
			i++
			continue
		}
		c.words, c.x1, c.size = append(c.words, next.words...), next.x1, max(c.size, next.size)
		l.chunks = slices.Delete(l.chunks, i+1, i+2)
	}
	return l
}

// bullet reports whether a text is a sign that stands before the items of lists.
func bullet(text string) bool {
	r, n := utf8.DecodeRuneInString(text)
	return n == len(text) && strings.ContainsRune("•▪■‣◦●○–—∙·➢❖◆□", r)
}

// ruled reports whether a vertical rule stands between two words of a line.
func (f *finder) ruled(x0, x1, y, size float32) bool {
	from, _ := slices.BinarySearchFunc(f.down, x0-1, func(a axis, x float32) int { return cmp.Compare(a.at, x) })
	for _, a := range f.down[from:] {
		if a.at > x1+1 {
			break
		}
		if a.from < y+0.2*size && a.to > y+0.3*size {
			return true
		}
	}
	return false
}

// headers sets the number of rows that name columns: the first one, those in bold letters that follow it while the rest is not
// bold, and the one below names that stand over several columns.
func (f *finder) headers(t *Table) {
	bold, wide := make([]bool, t.Rows), make([]bool, t.Rows)
	for r := range bold {
		bold[r] = true
	}
	heavy, all := 0, 0
	for i := range t.Cells {
		c := &t.Cells[i]
		wide[c.Row] = wide[c.Row] || c.Columns > 1 && c.Columns < len(t.Columns)-1 && len(c.Words) > 0
		for _, w := range c.Words {
			all++
			if f.words[w].Bold {
				heavy++
			} else {
				bold[c.Row] = false
			}
		}
	}
	const most = 4
	t.Header = 1
	for t.Header < min(most, t.Rows-1) && (t.Header == 1 && wide[0] || bold[0] && bold[t.Header] && heavy*2 < all) {
		t.Header++
	}
	for i := range t.Cells { // a name that reaches down takes the rows beside it along
		if c := &t.Cells[i]; c.Row == 0 && len(c.Words) > 0 && c.Rows <= most && c.Rows < t.Rows {
			t.Header = max(t.Header, c.Rows)
		}
	}
}

package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// table reports whether what stands in columns is a table: rows enough, columns filled and aligned, texts shorter than prose,
// no list and no table of contents.
func (f *finder) table(g *grid, full int) bool {
	least := 3
	if f.framed(g) {
		least = 2
	}
	if full < least {
		return false
	}
	crossing, leaders := 0, 0
	for i := range g.lines {
		crosses := false
		for j, c := range g.lines[i].chunks {
			crosses = crosses || g.end[i][j]-g.place[i][j] > 1 && len(g.lines[i].chunks) > 1
			if strings.Contains(strings.ReplaceAll(f.text(c.words), " ", ""), "....") {
				leaders++
				break
			}
		}
		if crosses {
			crossing++
		}
	}
	if crossing > max(1, full/4) || leaders*2 >= full {
		return false
	}
	if least > 2 && g.lists(f)*2 > len(g.columns) {
		return false
	}
	prose, edged := 0, 0
	for c := range g.columns {
		filled, own, marks, wide, em, edge := g.column(f, c)
		if filled*10 < full*3 || filled < 2 || own*2 < filled && filled > 3 {
			return false
		}
		if c == 0 && len(g.columns) == 2 && marks == filled {
			return false
		}
		if wide*2 >= filled && em >= lineOfText && filled >= 3 {
			prose++
		}
		if edge {
			edged++
		}
	}
	if least > 2 && edged*2 < len(g.columns) && full < 5 { // labels of a drawing
		return false
	}
	if prose > 0 && least > 2 && (prose > 1 || !f.parts(g)) {
		return false
	}
	return g.dense(f.rows(g, f.along(g)))
}

// lineOfText is the mean width of lines, in sizes of the font, from which they may be those of prose.
const lineOfText = 12

// dense reports whether at least half of the rows, and two, fill most columns.
func (g *grid) dense(row []int, rows int) bool {
	filled := make([]map[int]bool, rows)
	for i := range g.lines {
		if filled[row[i]] == nil {
			filled[row[i]] = map[int]bool{}
		}
		for j := range g.lines[i].chunks {
			for c := g.place[i][j]; c < g.end[i][j]; c++ {
				filled[row[i]][c] = true
			}
		}
	}
	full := 0
	for _, columns := range filled {
		if len(columns)*10 >= 7*len(g.columns) {
			full++
		}
	}
	return full >= 2 && full*2 >= rows
}

// column describes a column: how many lines have a text in it, how many of these stand at the commonest edge or middle, how
// many are the mark of a list item, how many fill it, and how wide they are on average, in sizes of the font; and whether
// most of them share an edge.
func (g *grid) column(f *finder, c int) (filled, own, marks, wide int, em float32, edge bool) {
	left, right, middle := map[int]int{}, map[int]int{}, map[int]int{}
	var spans []axis
	low, high := float32(1e6), float32(-1e6)
	for i := range g.lines {
		for j, k := range g.lines[i].chunks {
			if g.place[i][j] != c || g.end[i][j] != c+1 {
				continue
			}
			filled++
			text := f.text(k.words)
			em += (k.x1 - k.x0) / k.size
			if mark(text) {
				marks++
			}
			left[int(k.x0/2)]++
			right[int(k.x1/2)]++
			middle[int((k.x0+k.x1)/4)]++
			spans = append(spans, axis{0, k.x0, k.x1})
			low, high = min(low, k.x0), max(high, k.x1)
		}
	}
	most := func(counts map[int]int) (most int) {
		for at, n := range counts {
			most = max(most, n+max(counts[at-1], counts[at+1]))
		}
		return most
	}
	own = max(most(left), most(right))
	edge = own*2 > filled
	own = max(own, most(middle))
	for _, s := range spans {
		if s.to-s.from >= 0.7*(high-low) {
			wide++
		}
	}
	return filled, own, marks, wide, em / float32(max(filled, 1)), edge
}

// lists counts the columns that are lists: most of their texts are items with their mark.
func (g *grid) lists(f *finder) (n int) {
	items, all := make([]int, len(g.columns)), make([]int, len(g.columns))
	for i := range g.lines {
		for j, k := range g.lines[i].chunks {
			c := g.place[i][j]
			all[c]++
			if len(k.words) > 1 && mark(f.words[k.words[0]].Text) {
				items[c]++
			}
		}
	}
	for c := range items {
		if items[c] > 1 && items[c]*2 > all[c] {
			n++
		}
	}
	return n
}

// mark reports whether a text is the bullet or the number of a list item.
func mark(text string) bool {
	rest := strings.TrimRight(text, ".):")
	if utf8.RuneCountInString(rest) <= 1 {
		return !strings.ContainsFunc(rest, unicode.IsDigit) || rest != text
	}
	return rest != text && len(rest) <= 3 && !strings.ContainsFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) })
}

package pdf

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/path"
	"quarry/internal/extract/pdf/syntax"
	"quarry/internal/extract/pdf/table"
)

// grid is a table of a page and its place there.
type grid struct {
	outline.Table
	x0, x1, y0, y1 float32
	size           float32   // of the font of most words
	columns        []float32 // where columns begin and the last one ends
}

// word is a part of a segment without white space.
type word struct {
	segment
	of int // the segment
}

// findTables returns the tables that segments of a page make, and the segments without the words of these.
func findTables(all []segment, rules []table.Rule, b *syntax.Budget) ([]grid, []segment) {
	var words []word
	var number []int
	p := table.Page{Rules: rules}
	for i, region := range regions(all, b) {
		for _, w := range all[i].words() {
			if !w.glyphs[0].artifact {
				number = append(number, len(words))
				p.Words = append(p.Words, table.Word{Text: w.text, X0: w.x0, X1: w.x1, Y: w.y, Size: w.size, Bold: w.glyphs[0].bold, Region: region})
			}
			words = append(words, word{w, i})
		}
	}
	found := table.Find(p, b.Step)
	if len(found) == 0 {
		return nil, all
	}
	var out []grid
	taken := make([]bool, len(words))
	for i := range found {
		t := &found[i]
		text := make([]string, len(t.Cells))
		var sizes sizeCount
		for j := range t.Cells {
			var cell []segment
			for _, w := range t.Cells[j].Words {
				cell = append(cell, words[number[w]].segment)
				taken[number[w]] = true
				sizes.add(p.Words[w].Size, len(p.Words[w].Text))
			}
			text[j] = cellText(cell, b)
		}
		g := newGrid(t, text)
		g.size = sizes.most()
		if b.Keep(96 * t.Rows * len(t.Columns)) {
			out = append(out, g)
		}
	}
	return out, remaining(all, words, taken)
}

// turned returns lines in the coordinates of text in a direction.
func turned(drawn *path.Ruler, direction uint8) []table.Rule {
	if drawn.Drawing() {
		return nil
	}
	out := make([]table.Rule, len(drawn.Rules))
	for i, l := range drawn.Rules {
		ax, ay := turn(float64(l.X0), float64(l.Y0), direction)
		bx, by := turn(float64(l.X1), float64(l.Y1), direction)
		out[i] = table.Rule{X0: float32(min(ax, bx)), Y0: float32(min(ay, by)), X1: float32(max(ax, bx)), Y1: float32(max(ay, by))}
	}
	return out
}

// regions returns for each segment the column of text, or the rows between such, that it is read in.
func regions(all []segment, b *syntax.Budget) []int {
	type place struct{ x, y float32 }
	at := map[place]int{}
	for n, region := range columns(groupRows(slices.Clone(all), b), b) {
		for i := range region {
			for _, s := range region[i].segments {
				at[place{s.x0, s.y}] = n
			}
		}
	}
	out := make([]int, len(all))
	for i := range all {
		out[i] = at[place{all[i].x0, all[i].y}]
	}
	return out
}

// words divides a segment at white space.
func (s *segment) words() []segment {
	var out []segment
	open := false
	for i := range s.glyphs {
		g := &s.glyphs[i]
		if strings.TrimSpace(clean(g.text)) == "" {
			if open = false; len(out) > 0 { // which tells a narrow space from none
				w := &out[len(out)-1]
				w.glyphs = append(w.glyphs, *g)
			}
			continue
		}
		if open {
			last := &s.glyphs[i-1]
			open = !spaceBetween(max(g.x0-last.x1, last.x0-g.x1), last, g)
		}
		if !open {
			out = append(out, segment{x0: g.x0, x1: g.x1, y: s.y, size: g.size})
			open = true
		}
		w := &out[len(out)-1]
		w.glyphs = append(w.glyphs, *g)
		w.x0, w.x1, w.size = min(w.x0, g.x0), max(w.x1, g.x1), max(w.size, g.size)
	}
	for i := range out {
		out[i].text = strings.TrimSpace(spell(out[i].glyphs))
	}
	return out
}

// remaining returns segments without the words that are taken.
func remaining(all []segment, words []word, taken []bool) []segment {
	lost := make([]int, len(all))
	for i := range words {
		if taken[i] {
			lost[words[i].of]++
		}
	}
	var out []segment
	for i := range all {
		if lost[i] == 0 {
			out = append(out, all[i])
		}
	}
	for i := range words {
		if w := &words[i]; lost[w.of] > 0 && !taken[i] {
			out = append(out, w.segment)
		}
	}
	return out
}

// cellText returns the text of a cell, its lines joined as those of paragraphs are.
func cellText(words []segment, b *syntax.Budget) string {
	rows := groupRows(words, b)
	if len(rows) == 0 {
		return ""
	}
	lines := make([]line, len(rows))
	for i := range rows {
		lines[i] = rows[i].line()
	}
	c := composer{budget: b}
	c.column(lines, 1)
	c.end()
	var all []string
	for i := range c.out {
		all = append(all, c.out[i].text)
	}
	return strings.Join(all, " ")
}

// newGrid returns a table with the texts of its cells. A row on top that is one cell is the title.
func newGrid(t *table.Table, text []string) grid {
	width := len(t.Columns) - 1
	rows := make([][]string, t.Rows)
	for i := range rows {
		rows[i] = make([]string, width)
	}
	g := grid{x0: t.X0, x1: t.X1, y0: t.Y0, y1: t.Y1, columns: t.Columns}
	over := 0
	for i := range t.Cells {
		c := &t.Cells[i]
		for r := c.Row; r < c.Row+c.Rows; r++ {
			for k := c.Column; k < c.Column+c.Columns; k++ {
				rows[r][k] = text[i]
			}
		}
		if c.Row == 0 && c.Columns == width && c.Rows < t.Rows-1 {
			g.Title, over = text[i], c.Rows
		}
	}
	rows = rows[over:]
	if mostlyRightToLeft(strings.Join(text, "")) {
		for _, row := range rows {
			slices.Reverse(row)
		}
	}
	head := min(max(t.Header-over, 1), len(rows))
	g.Headers, g.Rows = rows[:head:head], rows[head:]
	return g
}

// mostlyRightToLeft reports whether most letters are of scripts that are written from right to left.
func mostlyRightToLeft(s string) bool {
	n := 0
	for _, r := range s {
		switch {
		case rightToLeft(string(r)):
			n++
		case unicode.IsLetter(r):
			n--
		}
	}
	return n > 0
}

// place puts tables into the lines of their page: each before the first line that stands below it, in its column.
func (s *sheet) place() {
	for i := range s.tables {
		g := &s.tables[i]
		at := len(s.lines)
		for n := range s.lines {
			l := &s.lines[n]
			if l.direction == s.direction && l.table == nil && l.x0 < g.x1 && l.x1 > g.x0 {
				if l.y < g.y1 {
					at = n
					break
				}
				at = n + 1
			}
		}
		for at < len(s.lines) && s.lines[at].table != nil && s.lines[at].table.y1 >= g.y1 {
			at++
		}
		s.lines = slices.Insert(s.lines, at, line{table: g, column: -1 - i})
	}
}

// captions match what begins the caption of a table, and what says that one goes on.
var (
	captions  = regexp.MustCompile(`^(?i:table|tab\.|tabelle|tableau|tabla|tabela|tabella|tabel|tabell|taulukko|tabulka|táblázat|таблица|tablo|표|表)\s*[A-Z]{0,2}[-.]?[\dIVX]`)
	continued = regexp.MustCompile(`(?i)[\s(\[,–-]*(continued|cont[’']?d|cont\.|fortsetzung|forts\.|suite|continuación|continuação|continua|segue|продолжение|계속|続き)[\s.)\]]*$`)
)

// tabulate returns paragraphs with captions moved to their tables, and tables that go on over pages joined.
func tabulate(all []paragraph) []paragraph {
	gone := make([]bool, len(all))
	for i := range all {
		t := all[i].table
		if t == nil {
			continue
		}
		switch {
		case i > 0 && !gone[i-1] && all[i-1].page == all[i].page && all[i-1].titles(t):
			gone[i-1] = true
			t.Title = strings.TrimSpace(outline.OneLine(all[i-1].text) + " " + t.Title)
		case i+1 < len(all) && all[i+1].page == all[i].page && all[i+1].table == nil && captions.MatchString(all[i+1].text) && all[i+1].lines <= maxLines:
			gone[i+1] = true
			t.Title = strings.TrimSpace(outline.OneLine(all[i+1].text) + " " + t.Title)
		}
	}
	out := all[:0:0]
	for i := range all {
		if gone[i] {
			continue
		}
		if n := len(out) - 1; n >= 0 && all[i].table != nil && out[n].table != nil && out[n].lastPage()+1 == all[i].page && out[n].table.goesOn(all[i].table) {
			out[n].breaks = append(out[n].breaks, outline.Mark{Page: all[i].page})
			continue
		}
		out = append(out, all[i])
	}
	return out
}

// titles reports whether a paragraph right above a table is its title: a caption, or a line in the middle above it.
func (p *paragraph) titles(t *grid) bool {
	if p.table != nil || p.lines > maxLines || p.text == "" {
		return false
	}
	if captions.MatchString(p.text) {
		return true
	}
	l := &p.last
	middle := abs((l.x0+l.x1)/2-(t.x0+t.x1)/2) < 0.05*(t.x1-t.x0)+4
	return p.lines == 1 && middle && l.size <= 1.15*t.size && (l.bold || l.x0 > t.x0+2 && l.x1 < t.x1-2) && l.y-t.y1 < 2.5*l.size && len(p.text) <= maxHeading
}

// goesOn adds a table at the top of the next page that continues this one: its columns are the same, and it has no other title.
// A header that is repeated is left out.
func (g *grid) goesOn(next *grid) bool {
	title := continued.ReplaceAllString(next.Title, "")
	if len(g.columns) != len(next.columns) || title != "" && title != g.Title && !strings.HasPrefix(g.Title, title) {
		return false
	}
	for i := range g.columns[:len(g.columns)-1] {
		if abs((g.columns[i]-g.columns[0])-(next.columns[i]-next.columns[0])) > 9 {
			return false
		}
	}
	if !slices.EqualFunc(g.Headers, next.Headers, slices.Equal[[]string]) {
		g.Rows = append(g.Rows, next.Headers...)
	}
	g.Rows = append(g.Rows, next.Rows...)
	return true
}

package pdf

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/extract/outline"
)

// sample is a table that a test lays out: texts and how they are shown.
type sample struct {
	rows    [][]string // "<" goes on with the cell on the left, "^" with the one above, "|" in a text begins another line
	heads   int
	ruled   string // "grid", "filled", "rows", "book" (above, below the header, below), "columns" or ""
	numbers bool   // columns but the first are set to the right
	tight   bool
	middle  bool // texts stand in the middle of the height of their rows
}

const letter = 0.5 // the width of all characters of Plain, in sizes of the font

// fixed adds a font whose characters all have the same width and returns a page with it.
func (w *writer) fixed(contents ...string) []byte {
	f := w.add("<</Type/Font/Subtype/TrueType/BaseFont/Plain/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 126/Widths[" + strings.Repeat("500 ", 95) + "]>>")
	bold := w.add("<</Type/Font/Subtype/TrueType/BaseFont/Plain-Bold/Encoding/WinAnsiEncoding/FirstChar 32/LastChar 126/Widths[" + strings.Repeat("500 ", 95) + "]>>")
	var pages []int
	for _, c := range contents {
		s := w.stream("/Filter/FlateDecode", c)
		pages = append(pages, w.add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</P %d 0 R/B %d 0 R>>>>>>", s, f, bold)))
	}
	return w.bytes(pages...)
}

func show(font string, size, x, y float64, text string) string {
	return fmt.Sprintf("BT /%s %g Tf %.2f %.2f Td (%s) Tj ET\n", font, size, x, y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(text))
}

func stroke(x0, y0, x1, y1 float64) string {
	return fmt.Sprintf("0.5 w %.2f %.2f m %.2f %.2f l S\n", x0, y0, x1, y1)
}

// draw returns content that shows a table with its upper left corner at a place, and the height of its foot.
func (s *sample) draw(x, y, size float64) (string, float64) {
	columns := len(s.rows[0])
	widths := make([]float64, columns)
	for _, row := range s.rows {
		for c, text := range row {
			if c+1 < columns && row[c+1] == "<" || text == "<" {
				continue
			}
			for _, l := range strings.Split(text, "|") {
				widths[c] = max(widths[c], float64(len(l))*letter*size)
			}
		}
	}
	pad := 0.8 * size
	if s.tight {
		pad = 0.5 * size
	}
	at := []float64{x}
	for _, w := range widths {
		at = append(at, at[len(at)-1]+w+2*pad)
	}
	var b strings.Builder
	tops := []float64{y}
	for _, row := range s.rows {
		lines := 1
		for _, text := range row {
			lines = max(lines, 1+strings.Count(text, "|"))
		}
		tops = append(tops, tops[len(tops)-1]-float64(lines)*1.2*size-0.6*size)
	}
	for r, row := range s.rows {
		for c, text := range row {
			if text == "<" || text == "^" {
				continue
			}
			right, below := c+1, r+1
			for right < columns && row[right] == "<" {
				right++
			}
			for below < len(s.rows) && s.rows[below][c] == "^" {
				below++
			}
			b.WriteString(s.frame(at[c], tops[r], at[right], tops[below], r))
			font := "P"
			if r < s.heads {
				font = "B"
			}
			for n, l := range strings.Split(text, "|") {
				left := at[c] + pad
				if s.numbers && c > 0 {
					left = at[right] - pad - float64(len(l))*letter*size
				}
				down := 0.0
				if s.middle {
					down = (tops[r] - tops[below] - 0.6*size - float64(1+strings.Count(text, "|"))*1.2*size) / 2
				}
				b.WriteString(show(font, size, left, tops[r]-0.3*size-down-(float64(n)+0.8)*1.2*size, l))
			}
		}
	}
	b.WriteString(s.lines(at, tops))
	return b.String(), tops[len(tops)-1]
}

// frame returns what is drawn around a cell.
func (s *sample) frame(x0, y0, x1, y1 float64, row int) string {
	switch s.ruled {
	case "grid":
		return stroke(x0, y0, x1, y0) + stroke(x0, y1, x1, y1) + stroke(x0, y0, x0, y1) + stroke(x1, y0, x1, y1)
	case "filled":
		return fmt.Sprintf("%.1f g %.2f %.2f %.2f %.2f re f 0 g\n", 0.7+0.1*float64(row%2), x0, y1, x1-x0, y0-y1)
	}
	return ""
}

// lines returns the rules of a table that has none around its cells.
func (s *sample) lines(at, tops []float64) string {
	var b strings.Builder
	left, right := at[0], at[len(at)-1]
	for i, y := range tops {
		if s.ruled == "rows" || s.ruled == "book" && (i == 0 || i == s.heads || i == len(tops)-1) || s.ruled == "columns" && (i < 2 || i == len(tops)-1) {
			fmt.Fprintf(&b, "%.2f %.2f %.2f 0.6 re f\n", left, y, right-left)
		}
	}
	for _, x := range at {
		if s.ruled == "columns" {
			b.WriteString(stroke(x, tops[0], x, tops[len(tops)-1]))
		}
	}
	return b.String()
}

// spread returns the cells that are expected: those that span several places are in each of them.
func (s *sample) spread() [][]string {
	out := make([][]string, len(s.rows))
	for r, row := range s.rows {
		out[r] = slices.Clone(row)
		for c, text := range row {
			switch text {
			case "<":
				out[r][c] = out[r][c-1]
			case "^":
				out[r][c] = out[r-1][c]
			default:
				out[r][c] = strings.ReplaceAll(text, "|", " ")
			}
		}
	}
	return out
}

func allTables(all []outline.Section) (out []outline.Table) {
	for _, s := range all {
		out = append(append(out, s.Tables...), allTables(s.Sections)...)
	}
	return out
}

func allText(all []outline.Section) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.Title + "\n" + s.Text + "\n" + allText(s.Sections))
	}
	return b.String()
}

// cellsF1 compares the cells of tables as multisets.
func cellsF1(want, got []string) float64 {
	have := map[string]int{}
	for _, c := range got {
		have[c]++
	}
	both := 0
	for _, c := range want {
		if have[c] > 0 {
			have[c]--
			both++
		}
	}
	return 2 * float64(both) / float64(max(len(want)+len(got), 1))
}

func filledCells(rows ...[]string) (out []string) {
	for _, row := range rows {
		for _, c := range row {
			if c != "" {
				out = append(out, c)
			}
		}
	}
	return out
}

var names = strings.Fields("pump valve boiler filter sensor motor gasket flange tank meter relay switch burner fan pipe bracket")

// phrase returns n words.
func phrase(r *rand.Rand, n int) string {
	var out []string
	for range n {
		out = append(out, names[r.IntN(len(names))])
	}
	return strings.Join(out, " ")
}

// made returns a table with a header, names in the first column and numbers or names in the others.
func made(r *rand.Rand, columns, rows int) [][]string {
	out := [][]string{{"Part"}}
	for c := 1; c < columns; c++ {
		out[0] = append(out[0], "Col "+string(rune('A'+c)))
	}
	for n := range rows {
		row := []string{fmt.Sprintf("%s %d", phrase(r, 1), n+1)}
		for c := 1; c < columns; c++ {
			row = append(row, fmt.Sprintf("%d.%d", r.IntN(900)+10, r.IntN(9)))
		}
		out = append(out, row)
	}
	return out
}

// samples returns the tables of one kind.
func samples(kind string, r *rand.Rand) sample {
	columns, rows := 2+r.IntN(4), 3+r.IntN(8)
	s := sample{rows: made(r, columns, rows), heads: r.IntN(2), numbers: r.IntN(2) == 0}
	switch kind {
	case "grid", "filled", "rows", "columns":
		s.ruled, s.tight = kind, kind == "grid" && r.IntN(2) == 0
	case "book":
		s.ruled, s.heads = "book", 1
	case "spans":
		s.ruled, s.numbers, s.heads = "grid", false, 2
		s.rows = [][]string{{"Part", "Size", "<", "Price"}, {"^", "Width", "Height", "^"}}
		for range rows {
			s.rows = append(s.rows, []string{phrase(r, 1), fmt.Sprint(r.IntN(99)), fmt.Sprint(r.IntN(99)), fmt.Sprint(r.IntN(999))})
		}
		s.rows[3][0] = "^"
		s.rows[4][1], s.rows[4][2] = "none given here", "<"
	case "lines in cells":
		s.ruled, s.numbers = []string{"grid", "rows", ""}[r.IntN(3)], false
		for n := range s.rows {
			if n > 0 {
				s.rows[n][1] = phrase(r, 2) + "|" + phrase(r, 2)
			}
			if n > 0 && n%2 == 0 {
				s.rows[n][1] += "|" + phrase(r, 1)
			}
		}
	case "middle":
		s.ruled, s.numbers, s.middle = []string{"book", "rows", "grid", ""}[r.IntN(4)], false, true
		for n := range s.rows {
			if n > 0 && r.IntN(2) == 0 {
				c := 1 + r.IntN(columns-1)
				s.rows[n][c] = phrase(r, 2) + "|" + phrase(r, 2)
				if r.IntN(2) == 0 {
					s.rows[n][c] += "|" + phrase(r, 1)
				}
			}
		}
	case "gaps":
		for n := range s.rows {
			for c := range s.rows[n] {
				if c > 0 && n > 0 && r.IntN(12) == 0 {
					s.rows[n][c] = ""
				}
			}
		}
		s.ruled = []string{"grid", "rows"}[r.IntN(2)]
	}
	return s
}

func TestGeneratedTables(t *testing.T) {
	t.Parallel() // Proves that tables of every make are found, cell by cell, between paragraphs that stay text.
	for _, kind := range []string{"grid", "filled", "rows", "columns", "book", "bare", "spans", "lines in cells", "middle", "gaps"} {
		var want, got []string
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 7))
			s := samples(kind, r)
			size := 8 + float64(r.IntN(4))
			content := ""
			for n := range 3 {
				content += show("P", size, 50, 780-1.2*size*float64(n), "The first paragraph is about "+phrase(r, 9)+".")
			}
			table, foot := s.draw(50+float64(r.IntN(80)), 720, size)
			content += table
			for n := range 3 {
				content += show("P", size, 50, foot-30-1.2*size*float64(n), "The last paragraph is about "+phrase(r, 9)+".")
			}
			doc, err := Read(newWriter().fixed(content), outline.Options{Tables: true})
			if err != nil {
				t.Fatalf("%s %d: %v", kind, seed, err)
			}
			found := allTables(doc.Sections)
			cells := filledCells(s.spread()...)
			var has []string
			for i := range found {
				has = append(append(has, filledCells(found[i].Headers...)...), filledCells(found[i].Rows...)...)
			}
			if f := cellsF1(cells, has); f < 0.95 {
				t.Logf("%s %d: %.2f %+v", kind, seed, f, s)
				for i := range found {
					t.Logf("   %q %q %q", found[i].Title, found[i].Headers, found[i].Rows)
				}
			}
			want, got = append(want, cells...), append(got, has...)
			text := allText(doc.Sections)
			if strings.Count(text, "first paragraph") != 3 || strings.Count(text, "last paragraph") != 3 || len(found) == 1 && kind != "middle" && strings.Contains(text, "Col B") {
				t.Errorf("%s %d: the text is %q", kind, seed, text)
			}
		}
		f := cellsF1(want, got)
		t.Logf("%s: cells F1 %.3f", kind, f)
		if f < 0.95 {
			t.Errorf("%s: cells F1 %.3f, want at least 0.95", kind, f)
		}
	}
}

// read returns the tables of a file of pages, and its text.
func readTables(t *testing.T, pages ...string) ([]outline.Table, string) {
	t.Helper()
	doc, err := Read(newWriter().fixed(pages...), outline.Options{Tables: true})
	if err != nil {
		t.Fatal(err)
	}
	if doc.Searched != len(pages) {
		t.Errorf("%d pages were searched, want %d", doc.Searched, len(pages))
	}
	return allTables(doc.Sections), allText(doc.Sections)
}

// stack returns content that shows lines of text one below another.
func stack(x, y, size float64, lines ...string) string {
	var b strings.Builder
	for n, l := range lines {
		b.WriteString(show("P", size, x, y-1.2*size*float64(n), l))
	}
	return b.String()
}

func TestTablesOverPages(t *testing.T) {
	t.Parallel() // Proves that a table that goes on over pages is one, with and without its header repeated, and that others are not.
	r := rand.New(rand.NewPCG(1, 2))
	for _, ruled := range []string{"grid", "book", "rows", ""} {
		all := made(r, 3, 90)
		part := func(head bool, from, to int) string {
			s := sample{rows: all[from:to], ruled: ruled, heads: 1}
			if head {
				s.rows = slices.Concat(all[:1], all[from:to])
			} else {
				s.heads = 0
			}
			for len(s.rows[0][0]) < 12 { // columns are as wide on each page
				s.rows = slices.Clone(s.rows)
				s.rows[0] = slices.Clone(s.rows[0])
				s.rows[0][0] += "."
			}
			out, _ := s.draw(60, 740, 10)
			return out
		}
		foot := func(n int) string {
			return show("P", 10, 300, 30, fmt.Sprint(n)) + show("P", 10, 60, 810, "Parts of the plant")
		}
		for _, repeated := range []bool{true, false} {
			found, text := readTables(t, show("P", 10, 60, 770, "Table 1: Parts")+part(true, 1, 31)+foot(1), part(repeated, 31, 61)+foot(2), part(repeated, 61, 91)+foot(3))
			if len(found) != 1 || found[0].Title != "Table 1: Parts" || found[0].Page != 1 {
				t.Errorf("%s, header repeated %v: %d tables %.600v", ruled, repeated, len(found), found)
				continue
			}
			if n := len(found[0].Headers) + len(found[0].Rows); n < 91 || n > 93 {
				t.Errorf("%s, header repeated %v: %d rows, want 90 and a header", ruled, repeated, n)
			}
			if strings.Contains(text, "Col B") || strings.Contains(text, "Table 1") {
				t.Errorf("%s: the text is %q", ruled, text)
			}
		}
		found, _ := readTables(t, part(true, 1, 31)+foot(1), show("P", 10, 60, 770, "Table 2: Others")+part(true, 31, 61)+foot(2), part(false, 61, 91)+foot(3))
		if len(found) != 2 || found[1].Title != "Table 2: Others" {
			t.Errorf("%s: %d tables, want two since the second has a title", ruled, len(found))
		}
	}
}

func TestTablesBeside(t *testing.T) {
	t.Parallel() // Proves that tables beside each other are two, with rules, with rules above and below only, and with the same header.
	for _, ruled := range []string{"grid", "book", "filled", ""} {
		left := sample{rows: made(rand.New(rand.NewPCG(3, 4)), 3, 6), ruled: ruled, heads: 1}
		right := sample{rows: made(rand.New(rand.NewPCG(5, 6)), 3, 6), ruled: ruled, heads: 1}
		a, _ := left.draw(50, 700, 9)
		b, _ := right.draw(330, 700, 9)
		found, _ := readTables(t, stack(50, 780, 9, "Both are shown below.", "They are tables.")+a+b)
		if len(found) != 2 {
			t.Errorf("%s: %d tables, want 2: %v", ruled, len(found), found)
			continue
		}
		for i, s := range []sample{left, right} {
			if diff := cmp.Diff(s.spread(), slices.Concat(found[i].Headers, found[i].Rows)); diff != "" {
				t.Errorf("%s: table %d (-want +got):\n%s", ruled, i+1, diff)
			}
		}
	}
}

func TestNoTables(t *testing.T) {
	t.Parallel() // Proves that text that only stands beside other text is no table, and stays as it is read without the search for tables.
	r := rand.New(rand.NewPCG(8, 9))
	prose := func(lines, words int) (out []string) {
		for range lines {
			out = append(out, phrase(r, words))
		}
		return out
	}
	var items, entries, letterhead string
	for n := range 8 {
		y := 700 - 14*float64(n)
		items += show("P", 10, 50, y, fmt.Sprintf("%d.", n+1)) + show("P", 10, 80, y, phrase(r, 3))
		entries += show("P", 10, 50, y, phrase(r, 2)+strings.Repeat(" .", 30)) + show("P", 10, 500, y, fmt.Sprint(n*7+1))
		letterhead += show("P", 10, 50, y, phrase(r, 6+r.IntN(4))+".")
	}
	apart := func(x, y float64) (all string) { // paragraphs of five lines
		for n := range 6 {
			all += stack(x, y-70*float64(n), 10, prose(5, 6)...)
		}
		return all
	}
	lists := ""
	for n, l := range []string{"Foxes", "Wolves", "Bears", "Lynxes"} {
		lists += show("P", 10, 50, 700-14*float64(n), fmt.Sprint(n+1, ". ", l)) + show("P", 10, 220, 700-14*float64(n), "- "+l) + show("P", 10, 390, 700-14*float64(n), "- of "+l)
	}
	pages := map[string]string{
		"paragraphs beside others":  apart(50, 700) + apart(320, 700),
		"paragraphs between others": apart(50, 700) + apart(320, 694),
		"lists beside each other":   lists,
		"two columns":               stack(50, 700, 10, prose(30, 6)...) + stack(320, 700, 10, prose(30, 6)...),
		"three columns":             stack(40, 700, 8, prose(40, 5)...) + stack(220, 700, 8, prose(40, 5)...) + stack(400, 700, 8, prose(40, 5)...),
		"a short one":               stack(50, 700, 10, prose(30, 6)...) + stack(320, 700, 10, prose(9, 6)...),
		"a rule":                    stack(50, 700, 10, prose(30, 6)...) + stack(320, 700, 10, prose(30, 6)...) + stroke(300, 350, 300, 720),
		"a frame":                   stack(60, 700, 10, prose(20, 6)...) + stroke(50, 720, 550, 720) + stroke(50, 400, 550, 400) + stroke(50, 400, 50, 720) + stroke(550, 400, 550, 720),
		"a list":                    items,
		"contents":                  entries,
		"lines":                     letterhead,
		"a chart": stroke(100, 300, 100, 600) + stroke(100, 300, 500, 300) + stroke(100, 400, 500, 400) + stroke(100, 500, 500, 500) + stroke(300, 300, 300, 600) +
			show("P", 8, 80, 300, "0") + show("P", 8, 80, 400, "10") + show("P", 8, 80, 500, "20") + show("P", 8, 295, 285, "2020") + show("P", 8, 495, 285, "2025"),
	}
	for name, content := range pages {
		data := newWriter().fixed(content)
		with, err := Read(data, outline.Options{Tables: true})
		if err != nil {
			t.Fatal(err)
		}
		without, err := Read(data, outline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if without.Searched != 0 || len(allTables(without.Sections)) > 0 {
			t.Errorf("%s: searched for tables without being asked", name)
		}
		if diff := cmp.Diff(without.Sections, with.Sections); diff != "" {
			t.Errorf("%s (-without +with the search):\n%s", name, diff)
		}
	}
}

func TestTablesInColumns(t *testing.T) {
	t.Parallel() // Proves that a table in a column of text is found, stands where it is read, and takes nothing of the other column.
	r := rand.New(rand.NewPCG(10, 11))
	var right, above []string
	for range 40 {
		right = append(right, phrase(r, 6))
	}
	for range 12 {
		above = append(above, phrase(r, 6))
	}
	s := sample{rows: made(r, 3, 7), ruled: "grid", heads: 1}
	table, foot := s.draw(50, 520, 9)
	found, text := readTables(t, stack(50, 700, 10, above...)+table+stack(50, foot-20, 10, append([]string{"below the table"}, above...)...)+stack(320, 700, 10, right...))
	if len(found) != 1 {
		t.Fatalf("%d tables: %v", len(found), found)
	}
	if diff := cmp.Diff(s.spread(), slices.Concat(found[0].Headers, found[0].Rows)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, l := range slices.Concat(above, right) {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), l) {
			t.Errorf("%q is not in the text", l)
		}
	}
}

func TestTitlesOfTables(t *testing.T) {
	t.Parallel() // Proves that a caption above or below, a line in the middle and a row that is one cell become the title, and a heading does not.
	s := sample{rows: [][]string{{"Part", "Pressure", "Mass"}, {"pump", "3 bar", "4 kg"}, {"valve", "5 bar", "1 kg"}, {"meter", "9 bar", "2 kg"}}, ruled: "grid", heads: 1}
	table, foot := s.draw(100, 600, 10)
	text := stack(50, 780, 10, "What follows is a table of parts.", "It is short.")
	over := s
	over.rows = slices.Concat([][]string{{"All the parts", "<", "<"}}, s.rows)
	merged, _ := over.draw(100, 600, 10)
	for want, content := range map[string]string{
		"Table 3. All the parts": show("P", 10, 100, 612, "Table 3. All the parts") + table,
		"Tabelle 4: Alle Teile":  table + show("P", 10, 100, foot-16, "Tabelle 4: Alle Teile"),
		"Parts in stock":         show("P", 10, 131, 612, "Parts in stock") + table,
		"All the parts":          merged,
		"":                       show("B", 16, 100, 612, "Chapter") + table,
	} {
		found, rest := readTables(t, text+content)
		if len(found) != 1 || found[0].Title != want {
			t.Errorf("%q: %v", want, found)
			continue
		}
		if want != "" && strings.Contains(rest, want) {
			t.Errorf("%q is in the text, too: %q", want, rest)
		}
		if diff := cmp.Diff([][]string{{"Part", "Pressure", "Mass"}}, found[0].Headers); diff != "" {
			t.Errorf("%q (-want +got):\n%s", want, diff)
		}
	}
}

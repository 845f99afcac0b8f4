package asciidoc

import (
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"

	"quarry/internal/extract/outline"
)

// cell is a cell of a table before it has a place.
type cell struct {
	outline.Cell
	style byte // "a", "l" and so on, 0 for none
	first bool // it begins a line
}

// table adds a table whose lines begin with a sign: a bar, a comma (CSV), a colon (DSV), or "!" within another table.
func (r *reader) table(b block, kind byte, lines []string, nested int) {
	if !r.joined {
		r.end()
	}
	r.joined = false
	separator := b.named["separator"]
	format := b.named["format"]
	var rows [][]string
	switch {
	case kind == ',' || format == "csv" || format == "tsv":
		rows = separated(lines, first(separator, map[bool]string{true: "\t", false: ","}[format == "tsv" || separator == `\t`]))
	case kind == ':' || format == "dsv":
		rows = delimiterSeparated(lines, first(separator, ":"))
	default:
		if separator == "" {
			separator = string(kind)
		}
		rows = r.laidOut(b, cells(lines, separator), lines)
	}
	for i := range rows {
		for k := range rows[i] {
			rows[i][k] = outline.OneLine(r.inline(rows[i][k]))
		}
	}
	if len(rows) == 0 {
		r.caption(b)
		return
	}
	t := outline.Table{Title: r.inline(b.title), Rows: rows}
	if !strings.Contains(b.options, "noheader") && len(rows) > 1 {
		t.Headers, t.Rows = rows[:1], rows[1:]
	}
	if len(rows[0]) < 2 && len(rows) < 2 || len(t.Rows) == 0 {
		r.caption(b)
		r.blocks(strings.Split(strings.Join(rows[0], "\n\n"), "\n"), nested+1)
		return
	}
	r.out.Table(t)
}

// first returns the first character of s, or of other if s has none.
func first(s, other string) string {
	if s == "" || s == `\t` {
		return other
	}
	return s[:1]
}

// separated returns the rows of CSV.
func separated(lines []string, comma string) (rows [][]string) {
	c := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
	c.Comma, c.LazyQuotes, c.FieldsPerRecord, c.TrimLeadingSpace = rune(comma[0]), true, -1, true
	rows, err := c.ReadAll()
	if err != nil {
		return delimiterSeparated(lines, comma)
	}
	return rows
}

func delimiterSeparated(lines []string, sign string) (rows [][]string) {
	for _, line := range lines {
		if line != "" {
			rows = append(rows, strings.Split(line, sign))
		}
	}
	return rows
}

// specifier matches what may stand in front of the bar of a cell, behind a space: spans or repetition, alignment, style.
var specifier = regexp.MustCompile(`\s(?:(\d+)?(?:\.(\d+))?([*+]))?(?:[<^>](?:\.[<^>])?|\.[<^>])?([adehlmsv])?$`)

// cells returns the cells of a table in order, a repeated one as often as it is.
func cells(lines []string, separator string) (out []cell) {
	pending := cell{}
	begun := false
	for _, line := range lines {
		rest, fresh := line, true
		for {
			at := bar(rest, separator)
			if at < 0 {
				if begun {
					out[len(out)-1].Text += "\n" + rest
				}
				break
			}
			before := rest[:at]
			if fresh {
				before = " " + before
			}
			next, times := cell{}, 1
			if m := specifier.FindStringSubmatchIndex(before); m != nil {
				next, times = specified(before, m)
				before = before[:m[0]]
			}
			next.first = fresh && strings.TrimSpace(before) == ""
			if begun && strings.TrimSpace(before) != "" {
				out[len(out)-1].Text += "\n" + before
			}
			fresh, begun, pending = false, true, next
			for range times {
				out = append(out, pending)
			}
			rest = rest[at+len(separator):]
			end := bar(rest, separator)
			if end < 0 {
				end = len(rest)
			} else if m := specifier.FindStringIndex(rest[:end]); m != nil {
				end = m[0]
			}
			for i := len(out) - times; i < len(out); i++ {
				out[i].Text = rest[:end]
			}
			rest = rest[end:]
			if bar(rest, separator) < 0 {
				break
			}
		}
		if len(out) > mostCells {
			return out
		}
	}
	for i := range out {
		out[i].Text = strings.TrimSpace(strings.ReplaceAll(out[i].Text, `\`+separator, separator))
	}
	return out
}

// mostCells and mostTimes bound a table and the repetition of a cell.
const (
	mostCells = 200_000
	mostTimes = 100
)

// bar returns the place of the next separator that is not escaped, -1 for none.
func bar(text, separator string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], separator)
		if at < 0 {
			return -1
		}
		if at += from; at == 0 || text[at-1] != '\\' {
			return at
		}
		from = at + 1
	}
}

// specified returns a cell with what stands in front of its bar, and how often it is repeated.
func specified(text string, m []int) (c cell, times int) {
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	columns, _ := strconv.Atoi(group(1))
	rows, _ := strconv.Atoi(group(2))
	if group(4) != "" {
		c.style = group(4)[0]
	}
	if group(3) == "*" {
		return c, min(max(columns, 1), mostTimes)
	}
	c.Columns, c.Rows = columns, rows
	return c, 1
}

// laidOut returns the rows of cells. Their number in a row is declared, or is that of the cells on the first line.
func (r *reader) laidOut(b block, all []cell, lines []string) (rows [][]string) {
	if len(all) == 0 {
		return nil
	}
	width := columns(b.named["cols"])
	if width == 0 {
		for width = 1; width < len(all) && !all[width].first; width++ {
		}
		spans := 0
		for _, c := range all[:width] {
			spans += max(c.Columns, 1)
		}
		if rows = perLine(all, width, lines); rows != nil {
			return rows
		}
		width = spans
	}
	var g outline.Grid
	for len(all) > 0 && !g.Full() {
		row := []cell{}
		taken := g.Covered(width)
		for len(all) > 0 && taken < width {
			taken += max(all[0].Columns, 1)
			row, all = append(row, all[0]), all[1:]
		}
		plain := make([]outline.Cell, len(row))
		for i, c := range row {
			plain[i] = c.Cell
		}
		rows = append(rows, g.Row(plain))
	}
	return rows
}

// perLine returns a row for each line, if each begins with a cell and has as many as the first one, or one more that is empty or fewer: what people mean
// who close their rows. It is nil for tables that are written in another way.
func perLine(all []cell, width int, lines []string) (rows [][]string) {
	if width > 2 && all[width-1].Text == "" {
		width--
	}
	if width < 2 {
		return nil
	}
	for _, c := range all {
		if c.Columns > 1 || c.Rows > 1 {
			return nil
		}
		if c.first {
			rows = append(rows, nil)
		}
		if len(rows) == 0 {
			return nil
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], c.Text)
	}
	for i, row := range rows {
		if len(row) == width+1 && row[width] == "" {
			rows[i] = row[:width]
		} else if len(row) < 2 || len(row) > width {
			return nil
		}
	}
	written := 0
	for _, line := range lines {
		if line != "" {
			written++
		}
	}
	if written != len(rows) {
		return nil
	}
	return rows
}

// multiplied matches a column that is repeated: "3*".
var multiplied = regexp.MustCompile(`^\s*(\d+)\*`)

// columns returns the number of columns that are declared, 0 for none.
func columns(declared string) (n int) {
	if strings.TrimSpace(declared) == "" {
		return 0
	}
	if only, err := strconv.Atoi(strings.TrimSpace(declared)); err == nil && only > 9 {
		return 1
	}
	for one := range strings.FieldsFuncSeq(declared, func(r rune) bool { return r == ',' || r == ';' }) {
		if m := multiplied.FindStringSubmatch(one); m != nil {
			times, _ := strconv.Atoi(m[1])
			n += min(times, mostTimes)
		} else {
			n++
		}
	}
	return n
}

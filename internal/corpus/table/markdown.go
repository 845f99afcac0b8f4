package table

import (
	"encoding/json"
	"strings"
)

// maxCells bounds a table written as Markdown: spans can make a small table into a huge one.
const maxCells = 100_000

// Markdown returns cells as a Markdown table. Header rows are joined into one, and a cell that spans several columns or
// rows is repeated in each of them. It returns "" for no cells and for JSON that holds no table.
func Markdown(raw json.RawMessage) string {
	var data Data
	if len(raw) == 0 || json.Unmarshal(raw, &data) != nil {
		return ""
	}
	names, rows := columnNames(data.Headers), spread(data.Rows)
	width := len(names)
	for _, row := range rows {
		width = max(width, len(row))
	}
	if width == 0 {
		return ""
	}
	var b strings.Builder
	line := func(cells []string) {
		b.WriteByte('|')
		for i := range width {
			b.WriteByte(' ')
			if i < len(cells) {
				b.WriteString(inCell.Replace(cells[i]))
			}
			b.WriteString(" |")
		}
		b.WriteByte('\n')
	}
	line(names)
	b.WriteString("|" + strings.Repeat(" --- |", width) + "\n")
	for _, row := range rows {
		line(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// inCell keeps the text of a cell within its cell.
var inCell = strings.NewReplacer("|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")

// spread returns the texts of rows with their spans filled in, up to maxCells.
func spread(rows [][]cell) [][]string {
	type above struct {
		text string
		rows int
	}
	var out [][]string
	below, n := map[int]above{}, 0 // column → what a cell above still covers
	for _, row := range rows {
		var line []string
		covered := func() {
			for below[len(line)].rows > 0 {
				a := below[len(line)]
				below[len(line)] = above{a.text, a.rows - 1}
				line = append(line, a.text)
			}
		}
		for i := range row {
			covered()
			text := row[i].String()
			for range span(row[i].ColSpan) {
				below[len(line)] = above{text, span(row[i].RowSpan) - 1}
				line = append(line, text)
			}
		}
		covered()
		if n += len(line); n > maxCells {
			return out
		}
		out = append(out, line)
	}
	return out
}

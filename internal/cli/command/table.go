package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap is what stands between two columns of a table.
const gap = "  "

// Table prints rows under a header, columns aligned and each row on a line. On a terminal, cells are cut so that the line fits;
// elsewhere they are whole. Texts that others chose, such as names, can't control the terminal.
func Table(w io.Writer, header []string, rows [][]string) {
	all := [][]string{header}
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, cell := range r {
			cells[i] = harmless(strings.Join(strings.Fields(cell), " "))
		}
		all = append(all, cells)
	}
	widths := make([]int, len(header))
	for _, cells := range all {
		for i, cell := range cells {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	if limit := Width(w); limit > 0 {
		fit(widths, limit)
	}
	for _, cells := range all {
		var line strings.Builder
		for i, cell := range cells {
			if i > 0 {
				line.WriteString(gap)
			}
			cell = cut(cell, widths[i])
			line.WriteString(cell + strings.Repeat(" ", widths[i]-columns(cell)))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// least is how many columns a cell keeps, and leastText those of the last column, which mostly is a text.
const (
	least     = 8
	leastText = 16
)

// fit shrinks columns until the line takes at most limit: the last, then the widest, and the first, which names the row, when
// nothing else is left.
func fit(widths []int, limit int) {
	last := len(widths) - 1
	over := sum(widths) + len(gap)*last - limit
	shrink := func(i, to int) {
		n := max(0, min(over, widths[i]-to))
		widths[i], over = widths[i]-n, over-n
	}
	shrink(last, leastText)
	for over > 0 {
		widest := last
		for i := 1; i < last; i++ {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= least || widest == 0 {
			break
		}
		shrink(widest, widths[widest]-1)
	}
	shrink(0, least)
}

func sum(all []int) (total int) {
	for _, n := range all {
		total += n
	}
	return total
}

// harmless replaces control characters and those that only change how others are shown.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Prose returns a text that others wrote, such as an answer, fit for the terminal: line breaks stay, and so do the joiners
// that some scripts are spelled with.
func Prose(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// PrintJSON prints raw indented, or unchanged when it isn't JSON.
func PrintJSON(w io.Writer, raw []byte) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		b.Reset()
		b.Write(raw)
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), "\n"))
}

// Line returns what others wrote as one line behind a label, cut to fit a terminal.
func Line(w io.Writer, label, text string) string {
	line := label + harmless(strings.Join(strings.Fields(text), " "))
	if limit := Width(w); limit > 0 {
		return cut(line, limit)
	}
	return line
}

// Clip shortens s to n characters on one line.
func Clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	r := []rune(s)
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}

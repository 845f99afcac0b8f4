package pdf

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Limits of headers and footers, which are the same text, apart from digits, at the edge of many pages.
const (
	edgeLines = 3 // the most lines of a header or footer
	minPages  = 3 // the fewest pages on which it repeats
)

// dropFurniture removes page headers, footers and page numbers: lines that the file marks as such, and lines at the edge
// of a page that repeat at the same height on at least a third of the pages. Lines in a larger font than the body text
// are headings even if they repeat. On a single page nothing repeats: what the file marks there is said nowhere else.
func dropFurniture(sheets []sheet) {
	type place struct {
		text string
		y    int
	}
	count := map[place]int{}
	// Heights are compared in steps of 8 points; near includes the neighbouring steps.
	key := func(l *line) place { return place{pattern(l.text), int(l.y+4) / 8} }
	near := func(p place) int {
		return count[p] + count[place{p.text, p.y - 1}] + count[place{p.text, p.y + 1}]
	}
	for i := range sheets {
		seen := map[place]bool{}
		for _, n := range sheets[i].edges() {
			if k := key(&sheets[i].lines[n]); !seen[k] {
				seen[k] = true
				count[k]++
			}
		}
	}
	counted := pageNumbers(sheets)
	body := bodySize(sheets)
	for i := range sheets {
		s := &sheets[i]
		drop := map[int]bool{}
		for n := range s.lines {
			drop[n] = s.lines[n].artifact && len(sheets) > 1
		}
		if len(sheets) >= minPages {
			for _, n := range s.edges() {
				if k := near(key(&s.lines[n])); k >= minPages && 3*k >= len(sheets) && s.lines[n].size < 1.12*body {
					drop[n] = true
				}
				if v, err := strconv.Atoi(s.lines[n].text); err == nil && counted[v-i] >= minPages {
					drop[n] = true
				}
			}
		}
		kept := s.lines[:0:0]
		for n := range s.lines {
			if !drop[n] {
				kept = append(kept, s.lines[n])
			}
		}
		s.lines = kept
	}
}

// bodySize returns the font size, in points, in which most of the text is set.
func bodySize(sheets []sheet) float32 {
	var count sizeCount
	for i := range sheets {
		for n := range sheets[i].lines {
			count.add(sheets[i].lines[n].size, len(sheets[i].lines[n].text))
		}
	}
	return count.most()
}

// pageNumbers returns, for each difference between a number that is a line by itself at the edge and the index of its
// page, the number of pages that have it. Printed page numbers differ from the index by a constant.
func pageNumbers(sheets []sheet) map[int]int {
	out := map[int]int{}
	for i := range sheets {
		seen := map[int]bool{}
		for _, n := range sheets[i].edges() {
			if v, err := strconv.Atoi(sheets[i].lines[n].text); err == nil && !seen[v-i] {
				seen[v-i] = true
				out[v-i]++
			}
		}
	}
	return out
}

// edges returns the indices of the lines at the top and at the bottom of a page that a gap separates from the text.
func (s *sheet) edges() []int {
	var order []int
	for n := range s.lines {
		if s.lines[n].direction == s.lines[0].direction {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.lines[b].y, s.lines[a].y) })
	out := s.edge(order)
	slices.Reverse(order)
	return append(out, s.edge(order)...)
}

// edge returns the lines before the first gap, or nil if that does not come within edgeLines lines.
func (s *sheet) edge(order []int) []int {
	heights := 0 // distinct lines so far; those side by side count as one
	for i := 1; i < len(order); i++ {
		a, b := &s.lines[order[i-1]], &s.lines[order[i]]
		gap := abs(a.y - b.y)
		if gap > 1.7*max(a.size, b.size) {
			return slices.Clone(order[:i])
		}
		if gap > 0.5*a.size {
			heights++
		}
		if heights == edgeLines {
			return nil
		}
	}
	if len(s.tables) > 0 { // which is what the gap leads to
		return slices.Clone(order)
	}
	return nil
}

// pattern returns a line in lower case without white space, with '#' for each number.
func pattern(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '#'
		case unicode.IsSpace(r):
			return -1
		}
		return unicode.ToLower(r)
	}, strings.ReplaceAll(strings.Trim(collapse(s), " "), "##", "#"))
}

// collapse replaces each run of digits by its first digit.
func collapse(s string) string {
	var b strings.Builder
	last := false
	for _, r := range s {
		d := unicode.IsDigit(r)
		if !d || !last {
			b.WriteRune(r)
		}
		last = d
	}
	return b.String()
}

package chunk

import (
	"regexp"
	"strings"
	"unicode"

	"quarry/internal/text/sentence"
)

// lines returns the lines of text[start:end] that are not blank, each with its indentation.
func lines(text string, start, end int) (out []sentence.Span) {
	for start < end {
		next := end
		if n := strings.IndexByte(text[start:end], '\n'); n >= 0 {
			next = start + n + 1
		}
		if size := len(strings.TrimRightFunc(text[start:next], unicode.IsSpace)); size > 0 {
			out = append(out, sentence.Span{Start: start, End: start + size})
		}
		start = next
	}
	return out
}

// gap matches what stands between the cells of a row: a tab, three spaces or more, or a bar.
var gap = regexp.MustCompile(`\S(?:\t+| {3,})\S|\S *\| *\S`)

// tabular reports whether a block is rows of a table: two lines or more, with gaps in each.
func tabular(block string) bool {
	if !strings.Contains(block, "\n") || !strings.ContainsAny(block, "\t|") && !strings.Contains(block, "   ") {
		return false
	}
	n := 0
	for line := range strings.SplitSeq(block, "\n") {
		if !gap.MatchString(line) {
			return false
		}
		n++
	}
	return n >= 2
}

// rowwise joins sentences whose boundary is inside of a row.
func rowwise(block string, all []sentence.Span) []sentence.Span {
	var out []sentence.Span
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && !strings.Contains(block[out[last].End:s.Start], "\n") {
			out[last].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// Package sentence splits a text into sentences.
//
// The boundaries are those of Unicode Text Segmentation (UAX 29), with two changes. There is no boundary after the full
// stop of an abbreviation, an initial or a list number, and there always is one at a blank line and before a list item,
// which end a sentence without a full stop. Single line breaks are white space. Markup is not recognised. All functions
// are safe for concurrent use.
package sentence

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Span is one sentence as byte offsets into the text; End is exclusive.
type Span struct{ Start, End int }

// Split returns the sentences of text in order. The spans do not overlap, neither start nor end with white space, and
// have only white space between them.
func Split(text string) []Span {
	var out []Span
	for start := 0; start < len(text); {
		end := blockEnd(text, start)
		out = splitBlock(out, text, start, end)
		start = end
	}
	return out
}

// Block is a paragraph or an item of a list, which sentences don't cross.
type Block struct {
	Span
	Item bool
}

// Blocks returns the blocks of text in order, without the white space between them.
func Blocks(text string) []Block {
	var out []Block
	for start := 0; start < len(text); {
		end := blockEnd(text, start)
		if s := trim(text, Span{start, end}); s.Start < s.End {
			line, _, _ := strings.Cut(text[s.Start:s.End], "\n")
			out = append(out, Block{s, listItem(line)})
		}
		start = end
	}
	return out
}

// Ended reports whether a text ends as sentences do, whatever quotes and brackets follow. Headings, items of lists and rows of
// tables mostly don't.
func Ended(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, closing))
	return strings.ContainsRune(".!?…。！？।۔؟", last)
}

// splitBlock appends the sentences of text[start:end], a single paragraph or list item.
func splitBlock(out []Span, text string, start, end int) []Span {
	first := len(out)
	block := text[start:end]
	if strings.ContainsAny(block, "\n\r\u0085\u2028") {
		block = flatten.Replace(block)
	}
	at := start
	for tokens := sentences.FromString(block); tokens.Next(); {
		next := at + len(tokens.Value())
		s := trim(text, Span{at, next})
		at = next
		if s.Start == s.End {
			continue
		}
		if n := len(out); n > first {
			out[n-1].End += noteLength(text, out[n-1], s)
			s = trim(text, Span{max(s.Start, out[n-1].End), s.End})
			if s.Start == s.End {
				continue
			}
			if joined(text, out[n-1], s) {
				out[n-1].End = s.End
				continue
			}
		}
		out = append(out, s)
	}
	return lowered(out, first, text)
}

// note matches the rest of notes such as [4] or [12][13] behind their first bracket.
var note = regexp.MustCompile(`^[^\[\]]{1,40}\](?:\[[^\[\]]{1,40}\])*`)

// noteLength returns how many bytes at the start of b belong to a: UAX 29 puts a boundary within a note that follows a full stop at once.
func noteLength(text string, a, b Span) int {
	if text[a.End-1] != '[' || a.End != b.Start {
		return 0
	}
	return len(note.FindString(text[b.Start:b.End]))
}

// flatten replaces line breaks by as many spaces as they have bytes, so that offsets stay valid.
var flatten = strings.NewReplacer("\n", " ", "\r", " ", "\u0085", "  ", "\u2028", "   ")

// blockEnd returns the end of the paragraph or list item that begins at start.
func blockEnd(text string, start int) int {
	for i := start; i < len(text); {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			return len(text)
		}
		i += n + 1
		line := text[i:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		if i < len(text) && (strings.TrimSpace(line) == "" || listItem(line)) {
			return i
		}
	}
	return len(text)
}

// listItem reports whether a line begins with a bullet or a number of up to three digits.
func listItem(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– ", "◦ ", "▪ "} {
		if strings.HasPrefix(line, bullet) {
			return true
		}
	}
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	if digits == 0 || digits > 3 || digits+1 >= len(line) {
		return false
	}
	return (line[digits] == '.' || line[digits] == ')') && line[digits+1] == ' '
}

func trim(text string, s Span) Span {
	for s.Start < s.End {
		r, size := utf8.DecodeRuneInString(text[s.Start:s.End])
		if !unicode.IsSpace(r) {
			break
		}
		s.Start += size
	}
	for s.End > s.Start {
		r, size := utf8.DecodeLastRuneInString(text[s.Start:s.End])
		if !unicode.IsSpace(r) {
			break
		}
		s.End -= size
	}
	return s
}

package summary

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/clip"
	"quarry/internal/llm"
	"quarry/internal/text/analysis"
	"quarry/internal/text/sentence"
)

const (
	// mostBytes is how much of a document is read. Of a longer one, passages are left out evenly.
	mostBytes = 8 << 20
	// longest bounds a candidate in bytes: texts without full stops are cut at line breaks, else at blanks.
	longest = 900
)

// reading is a document as candidates.
type reading struct {
	pool   []*candidate // those that a summary may have, in reading order
	places int          // of all candidates, also those that are not in the pool

	terms  map[string]int32 // term → its number
	rarity []float64        // of each term by number: it weighs more the fewer candidates have it
}

// candidate is a sentence that may be in the summary.
type candidate struct {
	Sentence
	place  int     // in reading order
	first  bool    // of its section
	terms  []int32 // each once, ascending
	length float64 // of its vector of terms
	value  float64 // centrality from 0 to 1, and what else counts
	whole  bool    // a sentence that can stand by itself
	picked bool
}

// read returns the candidates of a document: the sentences that can stand by themselves, and if these are few other pieces, too.
func read(document []llm.Evidence, language string) *reading {
	d := &reading{terms: map[string]int32{}}
	var others []*candidate
	whole := 0
	seen := map[string]bool{}
	section, begun := 0, false
	for _, i := range sampled(document) {
		p := &document[i]
		if p.Label {
			continue
		}
		for _, piece := range pieces(p.Text) {
			if seen[piece.text] || piece.text == p.Title {
				continue
			}
			seen[piece.text] = true
			c := &candidate{
				Sentence: Sentence{piece.text, i, p.Section}, place: d.places, whole: piece.whole,
				first: !begun || p.Section != section,
			}
			d.places++
			if c.whole {
				whole++
				section, begun = p.Section, true
			}
			others = append(others, c)
		}
	}
	for _, c := range others {
		if c.whole || whole < fewest {
			d.pool = append(d.pool, c)
			d.analyze(c, language)
		}
	}
	return d
}

// sampled returns the indexes of the passages that are read.
func sampled(document []llm.Evidence) []int {
	total := 0
	for i := range document {
		total += len(document[i].Text)
	}
	step := max(1, (total+mostBytes-1)/mostBytes)
	out := make([]int, 0, len(document)/step+1)
	for i := 0; i < len(document); i += step {
		out = append(out, i)
	}
	return out
}

// analyze sets the terms of a candidate and counts them.
func (d *reading) analyze(c *candidate, language string) {
	had := map[int32]bool{}
	for _, stem := range analysis.Analyze(c.Text, language).Stems {
		n, known := d.terms[stem]
		if !known {
			n = int32(len(d.rarity))
			d.terms[stem] = n
			d.rarity = append(d.rarity, 0)
		}
		if !had[n] {
			had[n] = true
			c.terms = append(c.terms, n)
			d.rarity[n]++ // how many have it, until weigh
		}
	}
	slices.Sort(c.terms)
}

// piece is a sentence, or a piece of text without one.
type piece struct {
	text  string
	whole bool
}

// bullet matches what stands before the text of a list item, a note, a quotation or a heading of Markdown.
var bullet = regexp.MustCompile(`^(?:(?:[-*+•◦▪·–—>]|#{1,6}|\(?\d{1,3}[.)]|\[\d{1,3}\])\s+)+`)

// pieces returns the sentences of a text in order.
func pieces(text string) []piece {
	var out []piece
	add := func(s string, whole bool) {
		s = bullet.ReplaceAllString(strings.TrimLeft(strings.TrimSpace(s), "\ufeff"), "") // a mark of byte order is no text
		if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			out = append(out, piece{s, whole && stands(s)})
		}
	}
	for _, span := range sentence.Split(text) {
		s := text[span.Start:span.End]
		whole := len(s) <= longest
		for len(s) > longest {
			at := cutAt(s)
			add(s[:at], false)
			s = s[at:]
		}
		add(s, whole)
	}
	return out
}

// cutAt returns where to cut a text that is longer than longest.
func cutAt(s string) int {
	if at := strings.LastIndexByte(s[:longest], '\n'); at > 0 {
		return at
	}
	if at := strings.LastIndexFunc(s[:longest], unicode.IsSpace); at > 0 {
		return at
	}
	return len(clip.Head(s, longest))
}

// The least words of a sentence that stands by itself, and the least share of letters among its characters that are no blanks:
// others are captions, code, or rows of tables.
const (
	leastWords   = 5
	leastLetters = 0.7
)

// stands reports whether a text is a sentence that can stand by itself: it ends as statements do, and is no fragment, no code and
// no row of a table.
func stands(text string) bool {
	if !sentence.Ended(text) || strings.ContainsAny(text, "|{}") || words(text) < leastWords {
		return false
	}
	if last := strings.TrimRight(text, `"'”’»)]`); strings.HasSuffix(last, "?") || strings.HasSuffix(last, "？") || strings.HasSuffix(last, "؟") {
		return false
	}
	letters, marks := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r):
			letters++
		case !unicode.IsSpace(r):
			marks++
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	return !unicode.IsLower(first) && float64(letters) >= leastLetters*float64(letters+marks)
}

// dense is the first code point of the scripts that are written without blanks, from Thai on; Hangul, which has blanks, is above
// lastDense.
const (
	dense     = 0x0E00
	lastDense = 0xABFF
)

// words returns about how many words a text has, two characters each in scripts without blanks.
func words(text string) int {
	n := 0
	for _, r := range text {
		if r >= dense && r <= lastDense && unicode.IsLetter(r) {
			n++
		}
	}
	return max(n/2, len(strings.Fields(text)))
}

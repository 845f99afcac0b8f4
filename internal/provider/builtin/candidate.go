package builtin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/llm"
	"quarry/internal/text/analysis"
	"quarry/internal/text/sentence"
)

// Bounds of a passage and of all passages, in bytes. Of a longer passage the beginning is read.
const (
	passageBytes  = 64 << 10
	evidenceBytes = 512 << 10
	// longest bounds a candidate: tables and texts without full stops are cut at line breaks, else at blanks.
	longest = 900
)

// candidate is a sentence that may be quoted. Its text is a piece of its passage, byte for byte.
type candidate struct {
	text    string
	passage int                 // index of its passage
	place   int                 // among all candidates, which are in order of passages and texts
	alone   bool                // it is all of its passage
	aside   bool                // from before the question: it is quoted where it answers best, and not beside other answers
	own     bool                // what the user said before
	asks    bool                // it is a question or a heading, which answers nothing; what follows it may
	stems   map[string]struct{} // its terms
	parts   []match             // by part of the question
	vector  []float32           // nil while it is not encoded

	standing float64 // what its passage adds to its score
}

// match is how well a candidate fits a part of the question.
type match struct {
	cosine  float64 // estimated if the sentence is not encoded
	cover   float64 // share of the terms that it holds, by weight
	context float64 // the same, including the sentence before
	kind    bool    // it holds what the question asks for, such as a number
}

func (c *candidate) holds(term string) bool {
	_, ok := c.stems[term]
	return ok
}

// marks matches what could be taken for our citations.
var marks = regexp.MustCompile(`\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]`)

// bullet matches the sign of a list item, which is not part of its text.
var bullet = regexp.MustCompile(`^(?:[-*+•◦▪·–—]\s+)+`)

// cutPassages returns the sentences of the passages in order, each text only where it comes first.
func cutPassages(passages []llm.Evidence, language string) []*candidate {
	var out []*candidate
	seen := map[string]bool{}
	left := evidenceBytes
	for i := range passages {
		text := head(passages[i].Text, min(left, passageBytes))
		left -= len(text)
		first := len(out)
		for _, span := range sentence.Split(blankMarks(text)) {
			for _, piece := range pieces(text[span.Start:span.End]) {
				if seen[piece] {
					continue
				}
				seen[piece] = true
				c := &candidate{text: piece, passage: i, place: len(out), asks: asks(piece) || names(&passages[i], piece), stems: map[string]struct{}{}}
				for _, s := range analysis.Analyze(piece, language).Stems {
					c.stems[s] = struct{}{}
				}
				out = append(out, c)
			}
		}
		if len(out) == first+1 && out[first].text == strings.TrimSpace(text) {
			out[first].alone = true
		}
	}
	return out
}

// pieces returns a sentence without marks, cut if it is too long for one.
func pieces(text string) []string {
	var out []string
	p := withoutMarks(text)
	for len(p) > longest {
		at := strings.LastIndexByte(p[:longest], '\n')
		if at <= 0 {
			at = strings.LastIndexFunc(p[:longest], unicode.IsSpace)
		}
		if at <= 0 {
			at = len(head(p, longest))
		}
		out = addPiece(out, p[:at])
		p = p[at:]
	}
	return addPiece(out, p)
}

func addPiece(out []string, p string) []string {
	p = bullet.ReplaceAllString(strings.TrimSpace(p), "")
	if !strings.ContainsFunc(p, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return out
	}
	return append(out, p)
}

// blankMarks replaces marks by blanks, so that a sentence ends before the mark that follows its full stop.
func blankMarks(text string) string {
	return marks.ReplaceAllStringFunc(text, func(m string) string { return strings.Repeat(" ", len(m)) })
}

// withoutMarks returns the longest piece of text between marks.
func withoutMarks(text string) string {
	best, start := "", 0
	for _, m := range append(marks.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if p := text[start:m[0]]; len(p) > len(best) {
			best = p
		}
		start = m[1]
	}
	return best
}

// asks reports whether text is a question or a heading: a line of a few words without an end.
func asks(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `"'”’»)]`))
	switch last {
	case '?', '？', '؟', '՞', ':':
		return true
	case '.', '!', '。', '！', '।', '۔', '…':
		return false
	}
	return len(strings.Fields(text)) <= 6 && len(text) < 60 && strings.IndexFunc(text, unicode.IsDigit) < 0
}

// names reports whether piece is the title of its document or a label without context: with context around it, a label is one
// paragraph among others.
func names(e *llm.Evidence, piece string) bool {
	return piece == e.Title || e.Label && !strings.Contains(strings.TrimSpace(e.Text), "\n\n")
}

// head cuts text to n bytes at a character.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

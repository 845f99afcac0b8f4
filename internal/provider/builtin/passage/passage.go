// Package passage cuts passages into pieces: the sentences, values, rows and blocks of code that an answer may quote, each with
// what it is, what it belongs to and what stands before it. It judges by form and by a few words of the languages that it
// knows; in others it judges by form alone.
package passage

import (
	"regexp"
	"strings"
	"unicode"

	"quarry/internal/clip"
	"quarry/internal/llm"
)

// Bounds of a passage and of all passages, in bytes. Of a longer passage the beginning is read.
const (
	passageBytes  = 64 << 10
	evidenceBytes = 512 << 10
	// longest bounds a piece. What is longer is a Fragment: a sentence is not cut.
	longest = 900
	// longestCode bounds a block of code, which is read as a whole.
	longestCode = 4 << 10
)

// Kind is what a piece is.
type Kind int

// The kinds. Prose, Item and Code can be quoted; of the others Question and Label show what follows them.
const (
	Prose       Kind = iota
	Item             // a value with its name, an item of a list or a row of a table: it belongs to its Term
	Code             // lines of code, as a block
	Question         // it asks
	Label            // a title, a heading, a term, or too few words to say something
	Navigation       // a table of contents, a menu, or a list run together
	Boilerplate      // it sends readers elsewhere
	Fragment         // a part of a sentence: longer than any, interrupted by marks like citations, or with a bracket left open
)

// Quotable reports whether pieces of this kind can stand in an answer.
func (k Kind) Quotable() bool { return k <= Code }

// Piece is a piece of a passage, byte for byte.
type Piece struct {
	Text    string
	Passage int // index of its passage
	Kind    Kind
	// Term is what a value belongs to, such as the option whose default it is: word for word from the passage, the sentence before
	// it or the headings above; "" for none.
	Term   string
	Named  bool   // Term is a name, such as that of an option: what the text says is said of it
	Before string // the sentence before it in its section; "" for none and where that is not known
	// Leans reports whether the piece is understood only behind Before: it begins with a pronoun, or is too short by itself.
	Leans bool
	// Wide is Before and Text as they stand in the passage, "" if Before is not in it.
	Wide  string
	Lead  int  // of a piece that leans: the index of the piece that is its Before, in whatever passage; -1 for none
	Alone bool // it is all of its passage
}

// Cut returns the pieces of the passages in order, each text only where it comes first: texts are compared without marks, case and
// white space. language, ISO 639-3, is that of the passages.
func Cut(passages []llm.Evidence, language string) []Piece {
	c := cutter{words: vocabularies[language], seen: map[string]int{}, places: map[string]int{}, left: evidenceBytes}
	for i := range passages {
		c.read(i, &passages[i])
	}
	for i := range c.out {
		if p := &c.out[i]; p.Leans {
			if at := c.places[bare(c.item(p.Before))] - 1; at != i {
				p.Lead = at
			}
		}
	}
	return c.out
}

// cutter gathers the pieces.
type cutter struct {
	words  vocabulary
	out    []Piece
	seen   map[string]int // pieces by what tells them apart
	places map[string]int // 1 + the index of the first piece with a bare text
	left   int            // bytes that may still be read
}

// read adds the pieces of one passage.
func (c *cutter) read(i int, e *llm.Evidence) {
	text := clip.Head(e.Text, min(c.left, passageBytes))
	c.left -= len(text)
	whole := len(text) == len(e.Text)
	text = strings.TrimPrefix(text, byteOrderMark)
	first := len(c.out)
	r := reader{cutter: c, passage: i, evidence: e, text: text, before: strings.TrimSpace(strings.TrimPrefix(e.Before, byteOrderMark))}
	r.terms = r.above()
	for _, b := range blocks(text) {
		if b.code || r.example(b) {
			r.code(b.start, b.end)
			continue
		}
		for _, s := range split(blankMarks(text[b.start:b.end])) {
			r.sentence(b.start+s.Start, b.start+s.End)
		}
	}
	if last := len(c.out) - 1; !whole && last >= first {
		c.out[last].Kind = Fragment // it may go on in what is not read
	}
	if len(c.out) == first+1 && c.out[first].Text == strings.TrimSpace(text) {
		c.out[first].Alone = true
	}
}

// byteOrderMark may begin a text that was a file. It is no part of the first sentence.
const byteOrderMark = "\ufeff"

// marks matches what could be taken for our citations.
var marks = regexp.MustCompile(`\[\s*\d+(?:\s*[,;–-]\s*\d+)*\s*\]`)

// blankMarks replaces marks by blanks, so that a sentence ends before the mark that follows its full stop. A mark at the start of a
// line begins a paragraph: it numbers what follows.
func blankMarks(text string) string {
	all := marks.FindAllStringIndex(text, -1)
	if all == nil {
		return text
	}
	out := []byte(text)
	for _, m := range all {
		for i := m[0]; i < m[1]; i++ {
			out[i] = ' '
		}
		if m[0] > 0 && text[m[0]-1] == '\n' {
			out[m[0]] = '\n'
		}
	}
	return string(out)
}

// withoutMarks returns text without the marks at its ends, and whether there are others in it.
func withoutMarks(text string) (bare string, inside bool) {
	all := marks.FindAllStringIndex(text, -1)
	start, end := 0, len(text)
	for len(all) > 0 && strings.TrimSpace(text[start:all[0][0]]) == "" {
		start, all = all[0][1], all[1:]
	}
	for n := len(all); n > 0 && strings.TrimSpace(text[all[n-1][1]:end]) == ""; n = len(all) {
		end, all = all[n-1][0], all[:n-1]
	}
	return strings.TrimSpace(text[start:end]), len(all) > 0
}

// bare returns what of a text is compared: letters and digits in lower case, and the signs before a digit.
func bare(text string) string {
	var b strings.Builder
	text, _ = withoutMarks(text)
	all := []rune(text)
	for i, r := range all {
		sign := !unicode.IsSpace(r) && i+1 < len(all) && unicode.IsDigit(all[i+1]) && (i == 0 || !unicode.IsLetter(all[i-1]))
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || sign {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

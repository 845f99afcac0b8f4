// Package chunk splits the text of a section into the passages that become parts of a document.
//
// It works on one text at a time, so a chunk never crosses a section boundary, and every chunk is an exact substring of
// that text. Titles, metadata and table parts are the work of its caller, package ingest. All functions are safe for
// concurrent use.
package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/text/sentence"
)

// Strategy determines the size of chunks.
type Strategy struct {
	// MaxChars is the maximum length of a chunk in code points. 0 makes every sentence a chunk, however long
	// (contract: sentence_chunking_strategy). Otherwise whole sentences are joined while they fit, and only a sentence
	// that is longer by itself is cut, at white space if possible.
	MaxChars int
	// Whole are places in the text, in ascending order, that sentences don't divide, such as code: where every sentence is a chunk, each
	// of them is one, unless it is very long.
	Whole []sentence.Span
}

// longestWhole bounds, in bytes, what is not divided.
const longestWhole = 4 << 10

// Chunk is a passage with its position in the source.
type Chunk struct {
	Text string
	// Offset and Len are in code points of the source.
	Offset, Len int
}

// Split returns the chunks of text in order. They do not overlap, and only white space is left out between them.
func Split(text string, s Strategy) []Chunk {
	c := cutter{text: text, max: s.MaxChars}
	if s.MaxChars > 0 {
		for _, sp := range sentence.Split(text) {
			c.join(sp.Start, sp.End)
		}
		c.flush()
		return c.out
	}
	at := 0
	for _, w := range s.Whole {
		if w.Start < at || w.End > len(text) || w.End-w.Start > longestWhole {
			continue
		}
		c.sentences(at, w.Start)
		if piece := text[w.Start:w.End]; strings.TrimSpace(piece) != "" {
			start := w.Start + len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
			c.add(start, start+len(strings.TrimSpace(piece)))
		}
		at = w.End
	}
	c.sentences(at, len(text))
	return c.out
}

// sentences adds each sentence of text[start:end] as a chunk.
func (c *cutter) sentences(start, end int) {
	for _, sp := range sentence.Split(c.text[start:end]) {
		c.add(start+sp.Start, start+sp.End)
	}
}

// cutter gathers sentences into chunks.
type cutter struct {
	text       string
	max        int
	out        []Chunk
	start, end int // the chunk being gathered, as byte offsets
	runes      int // its length in code points
	seenBytes  int // the end of the last chunk in bytes …
	seenRunes  int // … and the same in code points, so that each is counted once
}

// join appends a sentence to the chunk being gathered if it fits, or else begins a new chunk with it.
func (c *cutter) join(start, end int) {
	if c.end > c.start {
		if n := c.runes + utf8.RuneCountInString(c.text[c.end:end]); n <= c.max {
			c.end, c.runes = end, n
			return
		}
		c.flush()
	}
	n := utf8.RuneCountInString(c.text[start:end])
	if n <= c.max {
		c.start, c.end, c.runes = start, end, n
		return
	}
	for start < end {
		cut := cutAt(c.text[start:end], c.max)
		c.add(start, start+cut)
		start += cut
		for start < end {
			r, size := utf8.DecodeRuneInString(c.text[start:end])
			if !unicode.IsSpace(r) {
				break
			}
			start += size
		}
	}
}

// flush adds the chunk being gathered, if there is one.
func (c *cutter) flush() {
	if c.end > c.start {
		c.add(c.start, c.end)
	}
	c.start, c.end, c.runes = 0, 0, 0
}

// add adds the chunk text[start:end]. Chunks must be added in order.
func (c *cutter) add(start, end int) {
	c.seenRunes += utf8.RuneCountInString(c.text[c.seenBytes:start])
	n := utf8.RuneCountInString(c.text[start:end])
	c.out = append(c.out, Chunk{Text: c.text[start:end], Offset: c.seenRunes, Len: n})
	c.seenRunes += n
	c.seenBytes = end
}

// cutAt returns the length in bytes of the first piece of s, which has at most limit code points. It ends before the last
// white space, else after the last punctuation, else between two characters, but not before a combining mark or next to
// a zero-width joiner.
func cutAt(s string, limit int) int {
	space, mark, letter := 0, 0, 0
	i, n := 0, 0
	var last rune
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if i > 0 {
			switch {
			case unicode.IsSpace(r):
				if !unicode.IsSpace(last) {
					space = i
				}
			case unicode.IsPunct(last) && last > unicode.MaxLatin1 && !unicode.Is(unicode.Ps, last) && !unicode.Is(unicode.Pi, last):
				// Scripts without spaces: after a comma, not after an opening bracket or quote.
				mark = i
			}
			if !unicode.IsMark(r) && r != 0x200D && last != 0x200D {
				letter = i
			}
		}
		if n == limit {
			return best(space, mark, letter, i)
		}
		last = r
		i += size
		n++
	}
	return len(s)
}

// best chooses among the candidate cuts, which are 0 if there is none: white space or punctuation, unless only
// punctuation comes and so early that most of the piece would be lost; then a character boundary; then full.
func best(space, mark, letter, full int) int {
	at := max(space, mark)
	switch {
	case at > full/4:
		return at
	case space > 0:
		return space
	case letter > 0:
		return letter
	}
	return full
}

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
	// that is longer by itself is cut, at white space if possible. Items of lists, lines of code and rows of tables that fit are not
	// cut either, and the pieces of a longer one are joined to nothing else.
	MaxChars int
	// Code are the places of code in the text, in ascending order. Where every sentence is a chunk, each of them is one; code that is
	// too long is divided between its lines.
	Code []sentence.Span
}

// longestCode bounds, in code points, the code that is not divided where every sentence is a chunk.
const longestCode = 4 << 10

// Chunk is a passage with its position in the source.
type Chunk struct {
	Text string
	// Offset and Len are in code points of the source.
	Offset, Len int
}

// Split returns the chunks of text in order. They do not overlap, and only white space is left out between them.
func Split(text string, s Strategy) []Chunk {
	c := cutter{text: text, max: s.MaxChars}
	at := 0
	for _, place := range s.Code {
		if place.Start < at || place.End > len(text) {
			continue
		}
		c.prose(at, place.Start)
		c.code(place.Start, place.End)
		at = place.End
	}
	c.prose(at, len(text))
	c.flush()
	return c.out
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

// prose adds text[start:end], which is no code.
func (c *cutter) prose(start, end int) {
	for _, b := range sentence.Blocks(c.text[start:end]) {
		from, to := start+b.Start, start+b.End
		switch {
		case c.max <= 0:
			for _, sp := range c.sentences(from, to) {
				c.add(sp.Start, sp.End)
			}
		case b.Item && c.fits(from, to):
			c.join(from, to)
		case b.Item:
			c.alone(c.sentences(from, to))
		default:
			for _, sp := range c.sentences(from, to) {
				c.join(sp.Start, sp.End)
			}
		}
	}
}

// code adds text[start:end], which is code.
func (c *cutter) code(start, end int) {
	piece := c.text[start:end]
	end = start + len(strings.TrimRightFunc(piece, unicode.IsSpace))
	for { // blank lines in front; the indentation of the first line stays
		line, _, more := strings.Cut(c.text[start:max(start, end)], "\n")
		if !more || strings.TrimSpace(line) != "" {
			break
		}
		start += len(line) + 1
	}
	if start >= end {
		return
	}
	limit := c.max
	if limit <= 0 {
		c.max = longestCode
	}
	if c.fits(start, end) && limit > 0 {
		c.join(start, end)
	} else {
		c.alone(lines(c.text, start, end))
	}
	c.max = limit
}

// sentences returns the sentences of a block; a row of a table is part of one.
func (c *cutter) sentences(start, end int) []sentence.Span {
	block := c.text[start:end]
	all := sentence.Split(block)
	if tabular(block) {
		if all = rowwise(block, all); c.max > 0 {
			all = lines(block, 0, len(block))
		}
	}
	for i := range all {
		all[i].Start, all[i].End = start+all[i].Start, start+all[i].End
	}
	return all
}

// fits reports whether text[start:end] can be a chunk.
func (c *cutter) fits(start, end int) bool { return utf8.RuneCountInString(c.text[start:end]) <= c.max }

// alone adds pieces that are joined to each other while they fit, and to nothing else.
func (c *cutter) alone(all []sentence.Span) {
	c.flush()
	for _, sp := range all {
		c.join(sp.Start, sp.End)
	}
	c.flush()
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

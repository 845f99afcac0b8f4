// Package chunk cuts the text of a section into the passages that become
// parts of a document.
//
// It works on one text at a time, so a chunk never crosses a section boundary,
// and every chunk is an exact slice of that text. It makes no titles, metadata
// or table parts: that is the work of ingest, its caller. Safe for concurrent
// use.
package chunk

import (
	"unicode"
	"unicode/utf8"

	"quarry/internal/text/sentence"
)

// Strategy says how large chunks become.
type Strategy struct {
	// MaxChars is the most code points of a chunk. 0 makes one chunk of each
	// sentence, however long (contract: sentence_chunking_strategy). Otherwise
	// whole sentences are joined while they fit; only a sentence that alone is
	// longer is cut, at white space where there is some.
	MaxChars int
}

// Chunk is a passage with its place in the source.
type Chunk struct {
	Text string
	// Offset and Len count code points of the source.
	Offset, Len int
}

// Split returns the chunks of text in order. They do not overlap and leave
// nothing but white space out.
func Split(text string, s Strategy) []Chunk {
	c := cutter{text: text, max: s.MaxChars}
	for _, sp := range sentence.Split(text) {
		switch {
		case s.MaxChars <= 0:
			c.add(sp.Start, sp.End)
		default:
			c.join(sp.Start, sp.End)
		}
	}
	c.flush()
	return c.out
}

// cutter gathers sentences into chunks.
type cutter struct {
	text       string
	max        int
	out        []Chunk
	start, end int // the chunk being gathered, as byte offsets
	runes      int // its length
	seenBytes  int // code points are counted up to this byte …
	seenRunes  int // … and these are as many
}

// join puts a sentence behind the gathered ones, or begins anew with it.
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

// flush ends the gathered chunk.
func (c *cutter) flush() {
	if c.end > c.start {
		c.add(c.start, c.end)
	}
	c.start, c.end, c.runes = 0, 0, 0
}

func (c *cutter) add(start, end int) {
	c.seenRunes += utf8.RuneCountInString(c.text[c.seenBytes:start])
	n := utf8.RuneCountInString(c.text[start:end])
	c.out = append(c.out, Chunk{Text: c.text[start:end], Offset: c.seenRunes, Len: n})
	c.seenRunes += n
	c.seenBytes = end
}

// cutAt returns the byte length of the first piece of s, at most limit code
// points: up to the last white space, else behind the last punctuation, else
// between characters, and there not before a combining mark.
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
				// Scripts without spaces: behind a comma, not behind an opening bracket.
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

// best chooses the cut: white space and punctuation unless they come so early
// that most of the piece would be given away, hard at full length last.
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

package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Surface is a whole text in surface form, punctuation included, and the places in it at which words begin and end. A word is found
// in it as what stands between two such places.
//
// Words are those of Analyze: the parts of a compound are words, too, and in a script without spaces a word may begin and end at every
// character. A character is never parted from its marks. Every mark of punctuation stands for itself.
type Surface struct {
	// Text has each run of white space as one space, and no characters that can't be seen.
	Text string
	// from and to hold for each place in Text, its end included, the offset in the source of what begins there and behind what ends
	// there; -1 where none does.
	from, to []int32
}

// Begins returns the offset in the source at which a word begins that stands at a place in Text. It is false where none begins.
func (s *Surface) Begins(at int) (source int, ok bool) { return int(s.from[at]), s.from[at] >= 0 }

// Ends returns the offset in the source behind a word that ends at a place in Text. It is false where none ends.
func (s *Surface) Ends(at int) (source int, ok bool) { return int(s.to[at]), s.to[at] >= 0 }

// Scan returns the surface of a text.
func Scan(text string) Surface {
	b := surfacer{out: make([]byte, 0, len(text)+8), places: true}
	b.run(text)
	return Surface{string(b.out), b.from, b.to}
}

// Whole returns the surface of a term, without the space around it. The surface of a text has it wherever the text has the term.
func Whole(term string) string {
	b := surfacer{out: make([]byte, 0, len(term)+8)}
	b.run(term)
	if string(b.out) == term {
		return strings.TrimSpace(term) // which needs no memory
	}
	return strings.TrimSpace(string(b.out))
}

// kind is what a piece of a surface is.
type kind uint8

const (
	nothing kind = iota // the beginning
	space
	word  // goes on until something else comes
	other // stands by itself: a character of a script without spaces, a mark of punctuation
)

// surfacer is a surface that is being written.
type surfacer struct {
	out      []byte
	places   bool // from and to are wanted
	from, to []int32
	last     kind
	end      int // in the source, behind the last piece
}

// unseen is what a text has of characters that can't be seen: the text without them, and where the rest stood.
type unseen struct {
	text string
	at   []int32      // for each byte of text, its offset in the source; nil if nothing was taken out
	gaps map[int]bool // offsets in text at which a character was that words don't go on behind
}

// start and stop return the offsets in the source of a piece of the text.
func (u *unseen) start(i int) int {
	if u.at == nil {
		return i
	}
	return int(u.at[i])
}

func (u *unseen) stop(i int) int {
	if u.at == nil {
		return i
	}
	return int(u.at[i-1]) + 1
}

// reveal takes out what can't be seen.
func reveal(text string) unseen {
	first := strings.IndexFunc(text, hidden)
	if first < 0 {
		return unseen{text: text}
	}
	var b strings.Builder
	u := unseen{at: make([]int32, 0, len(text)), gaps: map[int]bool{}}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if hidden(r) {
			if classOf(r) == classNone {
				u.gaps[b.Len()] = true
			}
			i += size
			continue
		}
		b.WriteString(text[i : i+size])
		for range size {
			u.at = append(u.at, int32(i))
			i++
		}
	}
	u.text = b.String()
	return u
}

// hidden reports whether r is a character that can't be seen: one that governs how others are shown, or selects a variant of them.
func hidden(r rune) bool {
	return r >= 0xAD && (unicode.Is(unicode.Cf, r) || 0xFE00 <= r && r <= 0xFE0F || 0xE0100 <= r && r <= 0xE01EF)
}

// run adds a text.
func (b *surfacer) run(text string) {
	u := reveal(text)
	s := u.text
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			switch {
			case asciiWord[c]:
				if 'A' <= c && c <= 'Z' {
					c += 'a' - 'A'
				}
				b.add(&u, word, i, i+1, c)
			case c == ' ' || '\t' <= c && c <= '\r':
				b.add(&u, space, i, i+1, ' ')
			default:
				b.add(&u, other, i, i+1, c)
			}
			i++
			continue
		}
		k, size, folded := piece(s[i:])
		b.add(&u, k, i, i+size, folded...)
		i += size
	}
	if b.places {
		b.mark(-1, b.end)
		b.pad()
	}
}

// piece returns what a text begins with, its size, and its folded form.
func piece(s string) (k kind, size int, folded []byte) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return other, 1, []byte("\uFFFD")
	case unicode.IsSpace(r):
		return space, size, []byte{' '}
	}
	size = max(size, norm.NFKC.NextBoundaryInString(s, true))
	c := classOf(r)
	switch {
	case c == classNone:
		return other, size, []byte(sign(s[:size]))
	case c == classWord:
		return word, size, []byte(fold(s[:size]))
	}
	return other, size, []byte(fold(s[:size]))
}

// sign returns the folded form of a character that is in no word, with its marks. One that stands for words or spaces stays as it
// is, so that it doesn't become part of a word: a superscript, a unit in one character.
func sign(s string) string {
	wide := norm.NFKC.String(s)
	if strings.ContainsFunc(wide, func(r rune) bool { return unicode.IsSpace(r) || classOf(r) != classNone && !unicode.IsMark(r) }) {
		wide = s
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case '’':
			return '\''
		case '‐', '‑':
			return '-'
		}
		return unicode.ToLower(r)
	}, wide)
}

// add adds a piece of the text from i to end.
func (b *surfacer) add(u *unseen, k kind, i, end int, folded ...byte) {
	if k == space && b.last == space || len(folded) == 0 {
		return
	}
	joined := k == word && b.last == word && !u.gaps[i]
	if r, _ := utf8.DecodeRune(folded); r >= utf8.RuneSelf && unicode.IsMark(r) && (b.last == word || b.last == other) {
		joined = true
		k = b.last
	}
	if b.places {
		if start := u.start(i); !joined && start >= b.end {
			b.mark(start, b.end)
		}
	}
	b.out = append(b.out, folded...)
	b.last, b.end = k, u.stop(end)
	if b.places {
		b.pad()
	}
}

// mark writes that at the end of what there is a word begins and one ends.
func (b *surfacer) mark(from, to int) {
	at := len(b.out)
	if len(b.from) == at {
		b.from, b.to = append(b.from, int32(from)), append(b.to, int32(to))
		return
	}
	b.from[at], b.to[at] = int32(from), int32(to)
}

// pad writes that in what there is none begins or ends.
func (b *surfacer) pad() {
	for len(b.from) < len(b.out) {
		b.from, b.to = append(b.from, -1), append(b.to, -1)
	}
}

// Package tokenizer turns text into the token ids of a BERT uncased vocabulary. As in Devlin et al., "BERT" (2019), and
// its reference implementation, it removes control characters, lower-cases, strips accents, splits at white space,
// punctuation and CJK ideographs, and then splits each word by WordPiece, greedily taking the longest piece first. It
// knows no models, only the limit that it is given.
package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// A longer word, in runes, is one unknown token (max_input_chars_per_word of the published tokenizer).
	maxWordRunes = 100
	// The number of words in the cache of a Words, and the length in bytes of the longest word worth caching.
	maxCached, maxCachedBytes = 1 << 14, 48
)

// WordPiece is a vocabulary. It is immutable and safe for concurrent use.
type WordPiece struct {
	initial  map[string]int32 // pieces that begin a word
	inner    map[string]int32 // continuation pieces without their ##
	longest  int              // bytes of the longest piece, without ##
	pieces   []string         // by id
	special  []special
	unk      int32
	cls, sep int32
}

// special is a token that is recognised literally inside a text, such as "[SEP]".
type special struct {
	text string
	id   int32
}

// New parses a vocabulary of one piece per line, whose id is the line number from 0. The pieces share the memory of
// vocab.
func New(vocab string) (*WordPiece, error) {
	lines := strings.Split(strings.TrimSuffix(vocab, "\n"), "\n")
	w := &WordPiece{initial: make(map[string]int32, len(lines)), inner: make(map[string]int32, len(lines)/4), pieces: lines}
	for i, line := range lines {
		piece := strings.TrimSuffix(line, "\r")
		lines[i] = piece
		if rest, ok := strings.CutPrefix(piece, "##"); ok && rest != "" {
			w.inner[rest] = int32(i)
			w.longest = max(w.longest, len(rest))
		} else {
			w.longest = max(w.longest, len(piece))
		}
		w.initial[piece] = int32(i)
	}
	for _, s := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		id, ok := w.initial[s]
		if !ok {
			return nil, fmt.Errorf("vocabulary lacks %s", s)
		}
		w.special = append(w.special, special{s, id})
	}
	w.unk, w.cls, w.sep = w.special[1].id, w.special[2].id, w.special[3].id
	return w, nil
}

// Size returns the number of pieces; every id is below it.
func (w *WordPiece) Size() int { return len(w.pieces) }

// Piece returns the piece with this id, with its ## if it has one.
func (w *WordPiece) Piece(id int32) string { return w.pieces[id] }

// Words is the tokenizer state of one goroutine: a buffer and a cache of the ids of words. It is not safe for concurrent
// use. Its results do not depend on what it has encoded before.
type Words struct {
	w     *WordPiece
	word  []byte // the current word, normalised
	cache map[string][]int32
}

// NewWords returns a Words with an empty cache.
func (w *WordPiece) NewWords() *Words { return &Words{w: w, cache: map[string][]int32{}} }

// Encode appends [CLS], the ids of text and [SEP] to dst, at most limit ids in all, and returns the result. The text is
// truncated at its end; what is cut off is not even scanned. limit must be at least 2.
func (e *Words) Encode(dst []int32, text string, limit int) []int32 {
	end := len(dst) + limit - 1
	dst = e.appendUpTo(append(dst, e.w.cls), text, end)
	return append(dst, e.w.sep)
}

// Count returns the number of ids of text without [CLS] and [SEP], or limit when there are more.
func (e *Words) Count(text string, limit int) int {
	var buf [512]int32
	return len(e.appendUpTo(buf[:0], text, limit))
}

// appendUpTo appends ids until dst has length end. Special tokens inside text are recognised, as in the published
// tokenizer.
func (e *Words) appendUpTo(dst []int32, text string, end int) []int32 {
	for len(dst) < end {
		at, s := e.w.findSpecial(text)
		if at < 0 {
			return e.appendPlain(dst, text, end)
		}
		if dst = e.appendPlain(dst, text[:at], end); len(dst) < end {
			dst = append(dst, s.id)
		}
		text = text[at+len(s.text):]
	}
	return dst
}

// findSpecial returns the first special token in text and its offset, which is -1 if there is none.
func (w *WordPiece) findSpecial(text string) (at int, found special) {
	for i := strings.IndexByte(text, '['); i >= 0; {
		for _, s := range w.special {
			if strings.HasPrefix(text[i:], s.text) {
				return i, s
			}
		}
		next := strings.IndexByte(text[i+1:], '[')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return -1, special{}
}

// appendPlain appends the ids of a text without special tokens until dst has length end.
func (e *Words) appendPlain(dst []int32, s string, end int) []int32 {
	e.word = e.word[:0]
	for i := 0; i < len(s) && len(dst) < end; {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			dst = e.addRune(dst, r)
			continue
		}
		i++
		switch asciiClass[c] {
		case classWord:
			e.word = append(e.word, asciiLower[c])
		case classSpace:
			dst = e.flush(dst)
		case classPunct:
			dst = e.flush(dst)
			e.word = append(e.word, c)
			dst = e.flush(dst)
		}
	}
	dst = e.flush(dst)
	return dst[:min(len(dst), end)]
}

// flush appends the ids of the current word and begins a new one.
func (e *Words) flush(dst []int32) []int32 {
	if len(e.word) == 0 {
		return dst
	}
	word := e.word
	e.word = word[:0]
	if ids, ok := e.cache[string(word)]; ok {
		return append(dst, ids...)
	}
	n := len(dst)
	dst = e.w.appendPieces(dst, word)
	if len(word) <= maxCachedBytes && len(e.cache) < maxCached {
		e.cache[string(word)] = append([]int32(nil), dst[n:]...)
	}
	return dst
}

// appendPieces appends the ids of a word: the longest piece that it begins with, then the longest continuation of that,
// and so on. A word that cannot be covered so is one unknown token.
func (w *WordPiece) appendPieces(dst []int32, word []byte) []int32 {
	if len(word) > maxWordRunes && utf8.RuneCount(word) > maxWordRunes {
		return append(dst, w.unk)
	}
	begin, from := len(dst), w.initial
	for len(word) > 0 {
		id, n := w.longestPiece(from, word)
		if n == 0 {
			return append(dst[:begin], w.unk)
		}
		dst, word, from = append(dst, id), word[n:], w.inner
	}
	return dst
}

// longestPiece returns the id of the longest piece in from that word begins with, and its length n in bytes, which is 0
// if there is none.
func (w *WordPiece) longestPiece(from map[string]int32, word []byte) (id int32, n int) {
	for n = min(len(word), w.longest); n > 0; n-- {
		if n < len(word) && !utf8.RuneStart(word[n]) {
			continue
		}
		if id, ok := from[string(word[:n])]; ok {
			return id, n
		}
	}
	return 0, 0
}

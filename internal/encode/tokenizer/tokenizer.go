// Package tokenizer turns text into the token ids of a BERT uncased vocabulary: clean, lower-case, strip accents,
// split at white space, punctuation and CJK, then greedy longest pieces. It knows nothing of models and lengths
// beyond the limit it is given. Package encode calls it.
package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// A word of more runes than this is one unknown token (max_input_chars_per_word of the published tokenizer).
	maxWordRunes = 100
	// Words kept per Words cache, and the longest word worth keeping.
	maxCached, maxCachedBytes = 1 << 14, 48
)

// WordPiece is a vocabulary. It is immutable and safe for concurrent use.
type WordPiece struct {
	initial  map[string]int32 // pieces that begin a word
	inner    map[string]int32 // continuation pieces without their ##
	longest  int              // bytes of the longest piece, ## not counted
	pieces   []string         // by id
	special  []special
	unk      int32
	cls, sep int32
}

// special is a token that is recognised literally inside text.
type special struct {
	text string
	id   int32
}

// New reads a vocabulary of one piece per line, id = line number from 0. The pieces stay views of vocab.
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

// Size is the number of pieces; every id is below it.
func (w *WordPiece) Size() int { return len(w.pieces) }

// Piece is the piece with this id, as it stands in the vocabulary.
func (w *WordPiece) Piece(id int32) string { return w.pieces[id] }

// Words is the state of one goroutine: buffers and a cache of words already cut. It is not safe for concurrent use;
// its results do not depend on what it has seen before.
type Words struct {
	w     *WordPiece
	word  []byte
	cache map[string][]int32
}

// NewWords makes an empty cache.
func (w *WordPiece) NewWords() *Words { return &Words{w: w, cache: map[string][]int32{}} }

// Encode appends [CLS], the ids of text and [SEP] to dst, limit ids in all at the most: what does not fit is cut off
// at the end and not looked at. The limit is at least 2.
func (e *Words) Encode(dst []int32, text string, limit int) []int32 {
	end := len(dst) + limit - 1
	dst = e.appendUpTo(append(dst, e.w.cls), text, end)
	return append(dst, e.w.sep)
}

// Count is the number of ids of text without [CLS] and [SEP], or limit when there are as many or more.
func (e *Words) Count(text string, limit int) int {
	var buf [512]int32
	return len(e.appendUpTo(buf[:0], text, limit))
}

// appendUpTo appends ids until dst is end long. Special tokens inside text are recognised, as the published
// tokenizer does.
func (e *Words) appendUpTo(dst []int32, text string, end int) []int32 {
	for len(dst) < end {
		at, s := e.w.findSpecial(text)
		if at < 0 {
			return e.plain(dst, text, end)
		}
		if dst = e.plain(dst, text[:at], end); len(dst) < end {
			dst = append(dst, s.id)
		}
		text = text[at+len(s.text):]
	}
	return dst
}

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

// plain appends the ids of text without special tokens, until dst is end long.
func (e *Words) plain(dst []int32, s string, end int) []int32 {
	e.word = e.word[:0]
	for i := 0; i < len(s) && len(dst) < end; {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			i += n
			dst = e.rune(dst, r)
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

// flush appends the ids of the word gathered so far and begins a new one.
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
	dst = e.w.cut(dst, word)
	if len(word) <= maxCachedBytes && len(e.cache) < maxCached {
		e.cache[string(word)] = append([]int32(nil), dst[n:]...)
	}
	return dst
}

// cut appends the longest piece that begins the word, then the longest continuation, and so on; a word with a
// part that no piece covers is one unknown token.
func (w *WordPiece) cut(dst []int32, word []byte) []int32 {
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

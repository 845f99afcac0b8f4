// Package token turns text into the terms of lexical search: words with their
// positions, for phrases, prefixes and exclusions, and stems, for scoring.
//
// One chain serves documents and queries, so that both agree on what a term
// is. It is not a tokenizer for language models and knows nothing of
// operators such as quotes or a leading minus; the query planner takes those
// off before it calls Analyze. Callers are ingest and the live index (for
// documents) and retrieve (for queries). All functions are safe for
// concurrent use.
package token

import (
	"unicode"
	"unicode/utf8"
)

// Term is one word at its place in the text.
type Term struct {
	// Text is the surface form: NFKC, lower case, at most MaxBytes long.
	Text string
	// Pos counts words from 0. A compound such as "e-mail" has the position
	// of its first part; its parts follow one another.
	Pos int32
}

// Terms is the result of analysing one text.
type Terms struct {
	// Words holds every word in surface form, in order of the text.
	Words []Term
	// Stems holds the terms that score: stemmed, without stop words, in order
	// of the text, duplicates kept.
	Stems []string
}

// MaxBytes is the longest term. Longer words keep a prefix and a hash of the
// whole, so they stay distinct and can be found by prefix and as a whole.
const MaxBytes = 255

// Analyze returns the terms of text in the language lang, an ISO 639-3 code.
// A language without rules here is neither stemmed nor relieved of stop words.
func Analyze(text, lang string) Terms {
	a := analysis{rules: rulesOf(lang)}
	// A word of prose takes about six bytes, and about half of them score.
	a.out.Words = make([]Term, 0, len(text)/6+1)
	a.out.Stems = make([]string, 0, len(text)/10+1)
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		switch c {
		case classWord:
			i = a.compound(text, i)
		case classPair, classTriple:
			i = a.gramRun(text, i, c)
		default:
			i += size
		}
	}
	return a.out
}

// Normalize returns the surface form of one word as it stands in Words: the
// whole of a compound, all of a run of characters without its grams. Characters
// that never stand in a term are dropped.
func Normalize(word string) string {
	start := 0
	for start < len(word) {
		c, size := classAt(word, start)
		if c != classNone {
			break
		}
		start += size
	}
	end := start
	for end < len(word) {
		c, size := classAt(word, end)
		if c != classNone {
			end += size
			continue
		}
		next, ok := joinAt(word, end)
		if !ok {
			break
		}
		if c, _ := classAt(word, next); c == classNone {
			break
		}
		end = next
	}
	return limit(fold(word[start:end]))
}

// Fragment reports whether word, in surface form, belongs to a script that is
// cut into grams and is shorter than one. Words then holds it as it is only
// where it stands alone in the text; elsewhere it begins grams.
func Fragment(word string) bool {
	if word == "" {
		return false
	}
	least := 2
	switch c, _ := classAt(word, 0); {
	case c == classTriple:
		least = 3
	case c != classPair && !hangul(word):
		return false
	}
	return utf8.RuneCountInString(word) < least
}

// analysis is the state of one Analyze call.
type analysis struct {
	rules *rules
	out   Terms
	pos   int32
	stem  stemming
	parts []part
}

// part is one piece of a compound, as byte offsets into the text.
type part struct{ start, end int }

// compound reads a word at start, with all that is joined to it, and returns
// the offset behind it.
func (a *analysis) compound(text string, start int) int {
	a.parts = a.parts[:0]
	end := start
	for {
		p := part{start: end}
		end = wordEnd(text, end)
		p.end = end
		a.parts = append(a.parts, p)
		next, ok := joinAt(text, end)
		if !ok {
			break
		}
		if c, _ := classAt(text, next); c != classWord {
			break
		}
		end = next
	}
	if len(a.parts) == 1 {
		a.word(fold(text[start:end]))
		return end
	}
	whole := limit(fold(text[start:end]))
	a.out.Words = append(a.out.Words, Term{Text: whole, Pos: a.pos})
	if base, ok := a.rules.contraction(whole); ok {
		// "don't" and "John's" score by what stands before the apostrophe.
		a.score(base)
		for _, p := range a.parts {
			a.surface(fold(text[p.start:p.end]))
		}
		return end
	}
	for i, p := range a.parts {
		w := fold(text[p.start:p.end])
		if i+1 < len(a.parts) && a.rules.elided(w, text[p.end:a.parts[i+1].start]) {
			a.surface(w)
			continue
		}
		a.word(w)
	}
	return end
}

// word adds one folded word to both sides.
func (a *analysis) word(w string) {
	if w == "" {
		return
	}
	if hangul(w) {
		a.grams(w, 2)
		return
	}
	a.surface(w)
	a.score(w)
}

func (a *analysis) surface(w string) {
	if w == "" {
		return
	}
	a.out.Words = append(a.out.Words, Term{Text: limit(w), Pos: a.pos})
	a.pos++
}

func (a *analysis) score(w string) {
	if w == "" || a.rules.stops(w) {
		return
	}
	if s := a.stem.of(a.rules, w); s != "" {
		a.out.Stems = append(a.out.Stems, s)
	}
}

// gramRun reads a run of characters of class c and adds its grams.
func (a *analysis) gramRun(text string, start int, c class) int {
	end := start
	for end < len(text) {
		k, size := classAt(text, end)
		if k != c {
			break
		}
		end += size
	}
	n := 2
	if c == classTriple {
		n = 3
	}
	a.grams(fold(text[start:end]), n)
	return end
}

// grams adds every run of n characters of w, each at its own position; a word
// shorter than n is one term. Combining marks count as characters.
func (a *analysis) grams(w string, n int) {
	if utf8.RuneCountInString(w) <= n {
		a.gram(w)
		return
	}
	first := 0
	ahead := 0
	for range n {
		_, size := utf8.DecodeRuneInString(w[ahead:])
		ahead += size
	}
	for {
		a.gram(w[first:ahead])
		if ahead >= len(w) {
			return
		}
		_, size := utf8.DecodeRuneInString(w[first:])
		first += size
		_, size = utf8.DecodeRuneInString(w[ahead:])
		ahead += size
	}
}

func (a *analysis) gram(g string) {
	if g == "" {
		return
	}
	a.out.Words = append(a.out.Words, Term{Text: g, Pos: a.pos})
	a.out.Stems = append(a.out.Stems, g)
	a.pos++
}

// hangul reports whether w is written in Hangul syllables throughout; Korean
// words carry particles that only grams get past.
func hangul(w string) bool {
	if w[0] < 0xE1 {
		return false
	}
	for _, r := range w {
		if !unicode.Is(unicode.Hangul, r) {
			return false
		}
	}
	return true
}

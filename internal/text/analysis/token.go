// Package analysis turns text into the terms of lexical search: words with their positions, for phrases, prefixes and
// exclusions, and stems, for scoring.
//
// Documents and queries go through the same chain, so that both agree on what a term is. It is not a tokenizer for
// language models, and it knows no operators such as quotes or a leading minus; the query planner removes those before it
// calls Query. All functions are safe for concurrent use.
//
// Scripts without spaces are cut into overlapping n-grams: bigrams for Chinese, Japanese and Korean, trigrams for Thai,
// Lao, Khmer, Burmese and related scripts. A word of n or more characters is then found anywhere as a phrase of its
// n-grams, and a shorter one as a prefix of an n-gram.
package analysis

import (
	"slices"
	"unicode/utf8"
)

// Term is one word and its position in the text.
type Term struct {
	// Text is the surface form: NFKC, lower case, at most MaxBytes long.
	Text string
	// Pos is the number of words before it. A compound such as "e-mail" has the position of its first part; its parts
	// are at consecutive positions.
	Pos int32
}

// Terms is the result of analysing one text.
type Terms struct {
	// Words holds every word in surface form, in text order.
	Words []Term
	// Stems holds the terms that are scored: stemmed, without stop words, in text order, with duplicates.
	Stems []string
}

// Version is the version of the chain. It changes whenever the terms of some text do; an index with terms of another
// version is rebuilt.
const Version = 3

// MaxBytes is the length of the longest term. Longer words are replaced by a prefix and a hash of the whole word, so they
// stay distinct and can be found by prefix and as a whole.
const MaxBytes = 255

// Analyze returns the terms of a document's text in the language lang, an ISO 639-3 code. For a language without rules,
// words are not stemmed and there are no stop words.
//
// At the end of a run of n-grams, Words also holds the suffixes of the last n-gram, at its position. No n-gram begins
// with its last characters, so a search for a shorter word by prefix would otherwise miss them.
func Analyze(text, lang string) Terms { return analyze(text, true, rulesOf(lang)) }

// Query returns the terms of a query, or of a piece of one, that may be in any of the given languages. The stems of a
// word in all of them are scored, unless it is a stop word in one of them. The suffixes that Analyze adds at the end of a
// run are left out, since a document may have the run within a longer one.
func Query(text string, languages ...string) Terms {
	chains := make([]*rules, 0, len(languages))
	for _, code := range languages {
		if r := rulesOf(code); !slices.Contains(chains, r) {
			chains = append(chains, r)
		}
	}
	if len(chains) == 0 {
		chains = append(chains, noRules)
	}
	return analyze(text, false, chains...)
}

func analyze(text string, ends bool, chains ...*rules) Terms {
	a := analysis{chains: chains, ends: ends}
	// A word of prose takes about six bytes with its space, and more than half of the words are scored.
	a.out.Words = make([]Term, 0, len(text)/6+1)
	a.out.Stems = make([]string, 0, len(text)/10+1)
	for i := 0; i < len(text); {
		c, size := classAt(text, i)
		switch c {
		case classWord:
			i = a.compound(text, i)
		case classHan, classPair, classTriple:
			i = a.gramRun(text, i, c)
		default:
			i += size
		}
	}
	return a.out
}

// Normalize returns the surface form of a single word as it is in Words: a compound as a whole, a run of n-grams uncut.
// Leading characters that separate words are skipped, and the word ends at the next one.
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

// Fragment reports whether word, in surface form, is of a script that is cut into n-grams and shorter than an n-gram.
// Words holds it as it is only where a run ends with it; elsewhere it is a prefix of n-grams.
func Fragment(word string) bool {
	if word == "" {
		return false
	}
	c, _ := classAt(word, 0)
	return c.gram() > utf8.RuneCountInString(word)
}

// Scored reports whether a fragment is among the Stems of every text that contains it, as single Han characters are.
func Scored(fragment string) bool {
	c, _ := classAt(fragment, 0)
	return c == classHan
}

// analysis is the state of one call of Analyze or Query.
type analysis struct {
	chains  []*rules // one for each language that the text may be in
	ends    bool     // add the suffixes at the end of a run
	out     Terms
	pos     int32 // of the next word
	stemmer stemmer
	parts   []part // of the current compound; kept for its memory
}

// part is one piece of a compound, as byte offsets into the text.
type part struct{ start, end int }

// compound adds the word at start with everything that is joined to it, and returns the offset after it.
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
	if base, ok := a.contraction(whole); ok {
		// "John's" is scored as "John".
		a.score(base)
		for _, p := range a.parts {
			a.surface(fold(text[p.start:p.end]))
		}
		return end
	}
	for i, p := range a.parts {
		w := fold(text[p.start:p.end])
		if i+1 < len(a.parts) && a.elided(w, text[p.end:a.parts[i+1].start]) {
			a.surface(w)
			continue
		}
		a.word(w)
	}
	return end
}

// word adds a folded word to both Words and Stems.
func (a *analysis) word(w string) {
	if w == "" {
		return
	}
	a.surface(w)
	a.score(w)
}

// surface adds a folded word to Words.
func (a *analysis) surface(w string) {
	if w == "" {
		return
	}
	a.out.Words = append(a.out.Words, Term{Text: limit(w), Pos: a.pos})
	a.pos++
}

// score adds the stems of a folded word to Stems, unless it is a stop word.
func (a *analysis) score(w string) {
	if w == "" {
		return
	}
	for _, r := range a.chains {
		if r.stops(w) {
			return
		}
	}
	first := len(a.out.Stems)
	for _, r := range a.chains {
		if s := a.stemmer.stem(r, w); s != "" && !slices.Contains(a.out.Stems[first:], s) {
			a.out.Stems = append(a.out.Stems, s)
		}
	}
}

func (a *analysis) contraction(w string) (base string, ok bool) {
	for _, r := range a.chains {
		if base, ok = r.contraction(w); ok {
			return base, ok
		}
	}
	return "", false
}

func (a *analysis) elided(w, joint string) bool {
	return slices.ContainsFunc(a.chains, func(r *rules) bool { return r.elided(w, joint) })
}

// gramRun adds the n-grams of the run at start of characters that are cut like those of class c, and returns the offset
// after it.
func (a *analysis) gramRun(text string, start int, c class) int {
	end := start
	for end < len(text) {
		k, size := classAt(text, end)
		if k.gram() != c.gram() {
			break
		}
		end += size
	}
	a.grams(fold(text[start:end]), c.gram())
	return end
}

// grams adds the n-grams of w, each at its own position; if w is shorter than n, it is one term. Combining marks count as
// characters.
func (a *analysis) grams(w string, n int) {
	if w == "" {
		return
	}
	first, ahead := 0, 0
	for range n {
		_, size := utf8.DecodeRuneInString(w[ahead:])
		ahead += size
	}
	for ahead < len(w) {
		a.gram(w[first:ahead])
		_, size := utf8.DecodeRuneInString(w[first:])
		first += size
		_, size = utf8.DecodeRuneInString(w[ahead:])
		ahead += size
	}
	last := w[first:]
	if a.ends {
		for i := range last {
			if i > 0 {
				a.out.Words = append(a.out.Words, Term{Text: last[i:], Pos: a.pos})
			}
		}
	}
	a.gram(last)
	for i, r := range last { // a.gram has scored the first character
		if c := classOf(r); i > 0 && c == classHan {
			a.out.Stems = append(a.out.Stems, last[i:i+utf8.RuneLen(r)])
		}
	}
}

// gram adds an n-gram, and the Han character that it begins with: many of these are words by themselves (measured:
// Chinese nDCG@10 .966 with them, .964 without).
func (a *analysis) gram(g string) {
	a.out.Words = append(a.out.Words, Term{Text: g, Pos: a.pos})
	a.out.Stems = append(a.out.Stems, g)
	a.pos++
	r, size := utf8.DecodeRuneInString(g)
	if size < len(g) && classOf(r) == classHan {
		a.out.Stems = append(a.out.Stems, g[:size])
	}
}

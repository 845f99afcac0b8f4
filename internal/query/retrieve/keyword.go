package retrieve

import (
	"strings"
	"unicode"

	"quarry/internal/text/analysis"
)

// keywords is a query text split by the operators of the lexical side (contract: queries.md section 3.1).
type keywords struct {
	plain           string     // the text for the encoder, without operators and excluded words
	scored          string     // plain without the prefixes that pref* names
	phrases         [][]string // surface words that must stand side by side
	prefixes        []string
	exclude         [][]string // one word, or several that must stand side by side
	excludePrefixes []string
}

// parseKeywords parses "phrases", pref*, -word and -pref*. An operator counts only at the start of a token, after white
// space or at the start of the text; an unclosed quote and a lone - or * are plain text.
func parseKeywords(text string) keywords {
	var k keywords
	var plain, scored strings.Builder
	for rest := text; rest != ""; {
		if r := strings.TrimLeftFunc(rest, unicode.IsSpace); len(r) < len(rest) {
			plain.WriteByte(' ')
			scored.WriteByte(' ')
			rest = r
			continue
		}
		if body, after, ok := quoted(rest); ok {
			if w := sequence(body); len(w) > 0 {
				k.phrases = append(k.phrases, withPrefix(w))
			}
			end := spaceAt(after) // what sticks to the closing quote is plain text
			plain.WriteString(body + " " + after[:end])
			scored.WriteString(body + " " + after[:end])
			rest = after[end:]
			continue
		}
		end := spaceAt(rest)
		read, counted := k.word(rest[:end])
		plain.WriteString(read)
		scored.WriteString(counted)
		rest = rest[end:]
	}
	k.plain = strings.Join(strings.Fields(plain.String()), " ")
	k.scored = strings.Join(strings.Fields(scored.String()), " ")
	return k
}

// spaceAt returns the index of the first white space in s, or its length.
func spaceAt(s string) int {
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return i
	}
	return len(s)
}

func quoted(s string) (body, rest string, ok bool) {
	if s[0] != '"' {
		return "", "", false
	}
	body, rest, ok = strings.Cut(s[1:], `"`)
	return body, rest, ok && strings.TrimSpace(body) != ""
}

// word adds one token to k and returns what the encoder reads of it and what scores as words.
func (k *keywords) word(w string) (read, scored string) {
	body, negated := strings.CutPrefix(w, "-")
	stem, prefix := strings.CutSuffix(body, "*")
	words := sequence(stem)
	switch {
	case len(words) == 0 || !negated && !prefix:
		return w, w
	case negated:
		k.addExcluded(stem, words, prefix)
		return "", ""
	case len(words) > 1 && !oneWord(stem): // also a text of a script without spaces: its grams score
		k.prefixes = append(k.prefixes, words[len(words)-1])
		return stem, stem
	}
	k.prefixes = append(k.prefixes, analysis.Normalize(stem))
	return stem, ""
}

// addExcluded adds a token that a minus stands before.
func (k *keywords) addExcluded(text string, words []string, prefix bool) {
	whole := analysis.Normalize(text)
	switch {
	case oneWord(text) && (prefix || analysis.Fragment(whole)):
		k.excludePrefixes = append(k.excludePrefixes, whole)
	case oneWord(text):
		k.exclude = append(k.exclude, []string{whole})
	case prefix && len(words) == 1:
		k.excludePrefixes = append(k.excludePrefixes, words[0])
	default:
		k.exclude = append(k.exclude, withPrefix(words))
	}
}

// oneWord reports whether the index keeps text, joints and all, as a single word.
func oneWord(text string) bool {
	terms := analysis.Query(text).Words
	return len(terms) > 0 && terms[0].Text == analysis.Normalize(text) && (len(terms) == 1 || terms[1].Pos == terms[0].Pos)
}

// sequence returns the words of s as the index keeps them, one per position: of a compound its parts, which are adjacent
// in the index as well.
func sequence(s string) []string {
	var out []string
	terms := analysis.Query(s).Words
	for i, t := range terms {
		if i+1 == len(terms) || terms[i+1].Pos != t.Pos {
			out = append(out, t.Text)
		}
	}
	return out
}

// withPrefix turns the last word of a phrase into a prefix if it is shorter than the grams of its script, since the text
// may continue there without a space.
func withPrefix(words []string) []string {
	if n := len(words) - 1; n >= 0 && analysis.Fragment(words[n]) {
		words[n] += "*" // search.Query.Phrases
	}
	return words
}

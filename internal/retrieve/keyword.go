package retrieve

import (
	"strings"
	"unicode"

	"quarry/internal/text/token"
)

// keywords is a query text split by the operators of the lexical side (contract: queries.md section 3.1).
type keywords struct {
	plain           string     // the text for encoder and scoring: operators and excluded words taken out
	phrases         [][]string // surface words that must stand side by side
	prefixes        []string
	exclude         []string
	excludePrefixes []string
}

// parseKeywords reads "phrases", pref*, -word and -pref*. An operator counts only where a token starts, after white
// space or at the start of the text; an unclosed quote and a lone - or * are plain text.
func parseKeywords(text string) keywords {
	var k keywords
	var plain strings.Builder
	for rest := text; rest != ""; {
		if r := strings.TrimLeftFunc(rest, unicode.IsSpace); len(r) < len(rest) {
			plain.WriteByte(' ')
			rest = r
			continue
		}
		if body, after, ok := quoted(rest); ok {
			if w := surface(body); len(w) > 0 {
				k.phrases = append(k.phrases, w)
			}
			plain.WriteString(body)
			rest = after
			continue
		}
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		plain.WriteString(k.word(rest[:end]))
		rest = rest[end:]
	}
	k.plain = strings.Join(strings.Fields(plain.String()), " ")
	return k
}

func quoted(s string) (body, rest string, ok bool) {
	if s[0] != '"' {
		return "", "", false
	}
	body, rest, ok = strings.Cut(s[1:], `"`)
	return body, rest, ok && strings.TrimSpace(body) != ""
}

// word files one token and returns what of it is plain text.
func (k *keywords) word(w string) string {
	body, negated := strings.CutPrefix(w, "-")
	stem, prefix := strings.CutSuffix(body, "*")
	words := surface(stem)
	switch {
	case len(words) == 0 || !negated && !prefix:
		return w
	case negated && prefix:
		k.excludePrefixes = append(k.excludePrefixes, words[len(words)-1])
		return ""
	case negated:
		k.exclude = append(k.exclude, words...)
		return ""
	}
	k.prefixes = append(k.prefixes, words[len(words)-1])
	return stem
}

// surface gives the words of s as the index keeps them.
func surface(s string) []string {
	var out []string
	for _, t := range token.Analyze(s, "").Words {
		out = append(out, t.Text)
	}
	return out
}

// Package span finds values in sentences: numbers, dates, addresses, names, and what follows a label; and builds the shortest
// text that matches a pattern. Packages form and tool of builtin call it.
package span

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"quarry/internal/text/analysis"
)

// Named reports whether text holds a value as whole words.
func Named(text string, x any) bool {
	value := fmt.Sprint(x)
	if s, ok := x.(string); ok {
		value = strings.Join(Words(s), " ")
	}
	if value == "" {
		return false
	}
	return strings.Contains(" "+spaced(text)+" ", " "+spaced(value)+" ")
}

// spaced returns the words of a text in lower case, separated by single blanks.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}

// denials are words that deny, in the languages of Western Europe.
var denials = regexp.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|nicht|kein\w*|nie|ohne|ne|pas|jamais|sans|nunca|sin|não|non|senza|niet|geen)\b`)

// Denies reports whether text has a word that denies.
func Denies(text string) bool { return denials.MatchString(text) }

// Labelled returns what follows "name:" in text, or "".
func Labelled(text, member string) string {
	words := Words(member)
	if len(words) == 0 {
		return ""
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	label, err := regexp.Compile(`(?im)(?:^|[^\p{L}])` + strings.Join(words, `[ _-]?`) + `\s*[:=：]\s*([^\n;|]+)`)
	if err != nil {
		return ""
	}
	m := label.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimRight(strings.TrimSpace(m[1]), ".,")
}

// Cut shortens text to n characters at most, at a blank where there is one.
func Cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	cut := string([]rune(text)[:max(0, n)])
	if i := strings.LastIndexFunc(cut, unicode.IsSpace); i > len(cut)/2 {
		return strings.TrimSpace(cut[:i])
	}
	return cut
}

// Name returns the first run of capitalised words in text that are not in asked. A run of only the first word counts if the text
// has no other and is short.
func Name(text, asked string) string {
	known := map[string]bool{}
	for _, t := range analysis.Analyze(asked, "").Words {
		known[t.Text] = true
	}
	fields := strings.Fields(text)
	best := ""
	for i := 0; i < len(fields); i++ {
		from := i
		for i < len(fields) {
			r, _ := utf8.DecodeRuneInString(strings.TrimLeft(fields[i], `"'“(`))
			if !unicode.IsUpper(r) || known[Plain(fields[i])] {
				break
			}
			i++
			if strings.ContainsAny(fields[i-1][len(fields[i-1])-1:], ",;.") {
				break
			}
		}
		if i > from {
			run := strings.Trim(strings.Join(fields[from:i], " "), `.,;:"'“”()`)
			if from > 0 || i-from > 1 {
				return run
			}
			if best == "" {
				best = run
			}
			i--
		}
	}
	if len(fields) <= 4 {
		return best
	}
	return ""
}

// Formatted returns the first part of text that has a format of JSON Schema, or ""; known is false for a format that it does not
// know.
func Formatted(format, text string) (found string, known bool) {
	find, known := formats[format]
	if !known {
		return "", false
	}
	return find(text), true
}

// Neutral returns a text that has a format and no content; "" for a format that it does not know.
func Neutral(format string) string { return neutrals[format] }

// formats hold the functions that find what has a format in a text; they return "" if nothing has.
var formats = map[string]func(string) string{
	"date":      findDate,
	"date-time": func(s string) string { return withSuffix(findDate(s), "T00:00:00Z") },
	"time":      func(s string) string { return withSuffix(clock.FindString(s), ":00Z") },
	"email":     regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`).FindString,
	"uri":       func(s string) string { return strings.TrimRight(address.FindString(s), ".,;") },
	"url":       func(s string) string { return strings.TrimRight(address.FindString(s), ".,;") },
	"uuid":      regexp.MustCompile(`[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`).FindString,
	"ipv4":      regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`).FindString,
}

var (
	clock   = regexp.MustCompile(`\b(?:[01]\d|2[0-3]):[0-5]\d\b`)
	address = regexp.MustCompile(`https?://[^\s"<>)\]]+`)
	days    = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2} \p{L}+,? \d{4}\b|\b\p{L}+ \d{1,2}, \d{4}\b|\b\d{1,2}\.\d{1,2}\.\d{4}\b`)
	layouts = []string{"2006-01-02", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "2.1.2006", "2 January, 2006"}
)

// withSuffix appends rest to what was found, if anything was.
func withSuffix(found, rest string) string {
	if found == "" {
		return ""
	}
	return found + rest
}

// findDate returns the first date in a text, in the format of JSON Schema.
func findDate(text string) string {
	for _, m := range days.FindAllString(text, -1) {
		for _, l := range layouts {
			if t, err := time.Parse(l, m); err == nil {
				return t.Format("2006-01-02")
			}
		}
	}
	return ""
}

// neutrals are values without content, by format.
var neutrals = map[string]string{
	"date": "0001-01-01", "date-time": "0001-01-01T00:00:00Z", "time": "00:00:00Z", "email": "unknown@example.invalid", "uri": "about:blank",
	"url": "about:blank", "uuid": "00000000-0000-0000-0000-000000000000", "ipv4": "0.0.0.0", "ipv6": "::", "hostname": "invalid", "duration": "PT0S",
}

// Words splits a name such as "searchCorpora" or "web_search" into lower-case words.
func Words(name string) []string {
	var out []string
	word := []rune{}
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && unicode.IsLower(runes[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

// Plain returns a word in lower case without the punctuation around it.
func Plain(w string) string { return strings.ToLower(strings.Trim(w, ".,;:?!¿¡\"'“”„»«()")) }

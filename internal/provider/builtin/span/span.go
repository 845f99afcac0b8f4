// Package span finds values in sentences: numbers, dates, addresses, names, what stands behind a label; and makes the least
// text that a pattern admits. It knows no passage and chooses none: package builtin does, and calls it.
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

// spaced is text in lower-case words with single blanks.
func spaced(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}), " ")
}

// denials are words that deny, in the languages of Western Europe.
var denials = regexp.MustCompile(`(?i)\b(?:not|no|never|none|neither|nor|without|cannot|\w+n't|nicht|kein\w*|nie|ohne|ne|pas|jamais|sans|nunca|sin|não|non|senza|niet|geen)\b`)

// Denies reports whether text has a word that denies.
func Denies(text string) bool { return denials.MatchString(text) }

// Labelled is what stands behind "name:" in text, "" where nothing does.
func Labelled(text, member string) string {
	name := strings.Join(Words(member), `[ _-]?`)
	if name == "" {
		return ""
	}
	label, err := regexp.Compile(`(?im)(?:^|[^\p{L}])` + regexpWords(name) + `\s*[:=：]\s*([^\n;|]+)`)
	if err != nil {
		return ""
	}
	m := label.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.TrimRight(strings.TrimSpace(m[1]), ".,")
}

// regexpWords keeps the pattern between words as it is.
func regexpWords(name string) string {
	parts := strings.Split(name, `[ _-]?`)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return strings.Join(parts, `[ _-]?`)
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

// Name is the first run of capitalised words in text that are not in asked, past the first word of the sentence
// where it can be.
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
			if !unicode.IsUpper(r) || known[plain(fields[i])] {
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

// Formatted returns the first text in text that has a format of JSON Schema, "" where nothing does; known is false for a
// format that it does not know.
func Formatted(format, text string) (found string, known bool) {
	find, known := formats[format]
	if !known {
		return "", false
	}
	return find(text), true
}

// Neutral is a text of a format that says nothing; "" for a format that it does not know.
func Neutral(format string) string { return neutrals[format] }

// formats find what has a format in a text; "" where nothing does.
var formats = map[string]func(string) string{
	"date":      findDate,
	"date-time": func(s string) string { return behind(findDate(s), "T00:00:00Z") },
	"time":      func(s string) string { return behind(clock.FindString(s), ":00Z") },
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

func behind(found, rest string) string {
	if found == "" {
		return ""
	}
	return found + rest
}

// findDate returns the first date in a text, as the format wants it.
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

// neutrals are values of a format that say nothing.
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

func plain(w string) string { return strings.ToLower(strings.Trim(w, ".,;:?!¿¡\"'“”„»«()")) }

package provider

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/secret/redact"
)

const (
	mask = "****"
	// gram is the length of the shortest piece of a secret that counts as an echo of it.
	gram = 8
	// maxText is how many characters of a provider's message are passed on.
	maxText = 1000
)

// Cleaner takes the secrets of one connection out of texts: as they are, in base64 at any offset, in hexadecimal, URL-encoded
// and JSON-escaped, and every piece of at least eight characters of these, also with blanks, signs or escapes between. It is
// safe for concurrent use.
type Cleaner struct {
	grams map[string]bool // every gram of every form, in lower case
	bare  map[string]bool // every gram of the letters and digits of every form
	short []string        // secrets of fewer characters than a gram, longest first
	heads []string        // secrets in lower case, for echoes that show their beginning alone
}

// NewCleaner returns a cleaner of these secrets.
func NewCleaner(secrets ...string) *Cleaner {
	c := &Cleaner{grams: map[string]bool{}, bare: map[string]bool{}}
	for _, s := range secrets {
		for _, s := range inner(s) {
			c.add(s)
		}
	}
	slices.SortFunc(c.short, func(a, b string) int { return len(b) - len(a) })
	return c
}

// inner returns what is secret in s: of the key file of a service account the lines of its private key (the rest are names
// that messages need, such as the project), otherwise all of it.
func inner(s string) (out []string) {
	var file struct {
		PrivateKey string `json:"private_key"`
	}
	if !strings.HasPrefix(strings.TrimSpace(s), "{") || json.Unmarshal([]byte(s), &file) != nil || file.PrivateKey == "" {
		return []string{s}
	}
	for line := range strings.Lines(file.PrivateKey) {
		if line = strings.TrimSpace(line); len(line) >= gram && !strings.HasPrefix(line, "-----") {
			out = append(out, line)
		}
	}
	return out
}

func (c *Cleaner) add(s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	c.heads = append(c.heads, strings.ToLower(s))
	if len(s) < gram {
		c.short = append(c.short, s)
	}
	for _, form := range forms(s) {
		form = strings.ToLower(form)
		for i := 0; i+gram <= len(form); i++ {
			c.grams[form[i:i+gram]] = true
		}
		letters := squeeze(form).text
		for i := 0; i+gram <= len(letters); i++ {
			c.bare[string(letters[i:i+gram])] = true
		}
	}
}

// forms returns the ways in which s may be written.
func forms(s string) []string {
	quoted, _ := json.Marshal(s)
	out := []string{s, url.QueryEscape(s), url.PathEscape(s), strings.Trim(string(quoted), `"`), hex.EncodeToString([]byte(s))}
	// Within a longer text base64 depends on the offset modulo 3; the characters that mix with a neighbour go.
	for offset := range 3 {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + s))
		from := []int{0, 2, 3}[offset]
		to := len(text)
		if (offset+len(s))%3 != 0 {
			to--
		}
		if from < to {
			out = append(out, text[from:to], strings.NewReplacer("+", "-", "/", "_").Replace(text[from:to]))
		}
	}
	return out
}

var (
	// starred matches what a provider masked itself: a run of asterisks and what touches it.
	starred = regexp.MustCompile(`[\w\-.]*\*{3,}[\w\-.]*`)
	// dotted matches a beginning and an end with dots between.
	dotted = regexp.MustCompile(`([\w-]{3,})(?:\.{3}|…)[\w-]*`)
)

// Text returns s as one line without control characters, without secrets, and not longer than a message may be.
func (c *Cleaner) Text(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = c.secrets(s)
	s = starred.ReplaceAllString(s, mask)
	s = dotted.ReplaceAllStringFunc(s, func(found string) string {
		head := strings.ToLower(dotted.FindStringSubmatch(found)[1])
		if slices.ContainsFunc(c.heads, func(h string) bool { return strings.HasPrefix(h, head) }) {
			return mask
		}
		return found
	})
	s = redact.Text(s)
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }), " ")
	if utf8.RuneCountInString(s) > maxText {
		s = string([]rune(s)[:maxText]) + "…"
	}
	return s
}

// secrets masks the secrets that grams cover, then those shorter than a gram.
func (c *Cleaner) secrets(s string) string {
	s = hide(s, lowerASCII(s), c.grams, func(from, to int) (int, int) { return from, to })
	q := squeeze(s)
	s = hide(s, string(q.text), c.bare, func(from, to int) (int, int) { return q.from[from], q.to[to-1] })
	for _, short := range c.short {
		s = replaceWord(s, short)
	}
	return s
}

// hide masks in s the longest runs of text that grams cover; place returns where a run of text stands in s.
func hide(s, text string, grams map[string]bool, place func(from, to int) (int, int)) string {
	var out strings.Builder
	done := 0 // bytes of s that are in out
	for i := 0; i+gram <= len(text); {
		if !grams[text[i:i+gram]] {
			i++
			continue
		}
		end := i + gram
		for j := i + 1; j+gram <= len(text) && j <= end; j++ {
			if grams[text[j:j+gram]] {
				end = j + gram
			}
		}
		from, to := place(i, end)
		out.WriteString(s[done:from])
		out.WriteString(mask)
		done, i = to, end
	}
	out.WriteString(s[done:])
	return out.String()
}

// lowerASCII keeps every byte in its place.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, x := range b {
		if 'A' <= x && x <= 'Z' {
			b[i] = x + 'a' - 'A'
		}
	}
	return string(b)
}

// replaceWord replaces a short secret: anywhere from four characters on, below that where it stands alone, since it
// would otherwise be found in every other word.
func replaceWord(s, secret string) string {
	if len(secret) >= 4 {
		return strings.ReplaceAll(s, secret, mask)
	}
	word := func(r byte) bool {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' || r >= 0x80
	}
	for from := 0; ; {
		at := strings.Index(s[from:], secret)
		if at < 0 {
			return s
		}
		at += from
		end := at + len(secret)
		if at > 0 && word(s[at-1]) || end < len(s) && word(s[end]) {
			from = at + 1
			continue
		}
		s = s[:at] + mask + s[end:]
		from = at + len(mask)
	}
}

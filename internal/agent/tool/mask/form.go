package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// pattern is a text by which a value is found. It has at least block bytes.
type pattern struct {
	text  string
	value string
	// base64 is whether the characters beside it hold bits of the value, too.
	base64 bool
}

// forms returns by what texts a value is found: as it is and as it is escaped usually, and each of these in hex and in base64. A
// finder undoes escapes of other kinds.
func forms(v string) (out []pattern) {
	html, _ := json.Marshal(v) // texts always encode
	escaped := Escaped(v)
	seen := map[string]bool{}
	for _, s := range []string{v, escaped, string(html[1 : len(html)-1]), ascii(escaped), url.QueryEscape(v), url.PathEscape(v)} {
		if seen[s] {
			continue
		}
		seen[s] = true
		out = append(out, pattern{text: s, value: v})
		digits := hex.EncodeToString([]byte(s))
		out = append(out, pattern{text: digits, value: v}, pattern{text: strings.ToUpper(digits), value: v})
		for _, of := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 {
				if core := within(of, s, before); !seen[core] {
					seen[core] = true
					out = append(out, pattern{core, v, true})
				}
			}
		}
	}
	return out
}

// within returns the characters that stand for s alone in the base64 of a longer text, where so many bytes are before it in its
// group of three.
func within(of *base64.Encoding, s string, before int) string {
	const bits = 6 // of a character
	all := of.EncodeToString([]byte("xx"[:before] + s))
	first, end := (8*before+bits-1)/bits, 8*(before+len(s))/bits
	return all[first:end]
}

// encoded returns the whole of v in base64.
func encoded(v string) (out []string) {
	for _, of := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		out = append(out, of.EncodeToString([]byte(v)))
	}
	return out
}

// ascii returns JSON with what is not ASCII escaped.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

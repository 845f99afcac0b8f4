package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text in an event of a stream, which may begin and end within a character: servers cut where tokens end, between the
// bytes of a character or between the two escapes of one, such as \ud83d and \ude00. What encoding/json would replace stays as it
// came, surrogates in three bytes each, until the Builder has both ends together.
type Text string

// UnmarshalJSON reads a JSON string.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	body := data[1 : len(data)-1]
	valid := utf8.Valid(body)
	switch {
	case valid && bytes.IndexByte(body, '\\') < 0:
		*t = Text(body)
		return nil
	case valid && !bytes.Contains(body, []byte(`\ud`)) && !bytes.Contains(body, []byte(`\uD`)):
		return json.Unmarshal(data, (*string)(t))
	}
	*t = Text(unquote(body))
	return nil
}

// escaped are the characters that a backslash and a letter stand for.
var escaped = map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote returns what is between the quotes of a well-formed string.
func unquote(s []byte) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if s[i] == 'u' && i+4 < len(s) {
			out = appendUnit(out, unit(s[i+1:i+5]))
			i += 4
		} else if c, ok := escaped[s[i]]; ok {
			out = append(out, c)
		} else {
			out = append(out, s[i]) // a quote, a backslash, a slash
		}
	}
	return out
}

// unit returns the number of four hexadecimal digits.
func unit(digits []byte) (u rune) {
	for _, d := range digits {
		switch {
		case d <= '9':
			u = u<<4 | rune(d-'0')
		default:
			u = u<<4 | rune(d|0x20-'a'+10)
		}
	}
	return u
}

// appendUnit appends a character, a surrogate in three bytes as if it were one.
func appendUnit(out []byte, u rune) []byte {
	if utf16.IsSurrogate(u) {
		return append(out, 0xe0|byte(u>>12), 0x80|byte(u>>6)&0xbf, 0x80|byte(u)&0xbf)
	}
	return utf8.AppendRune(out, u)
}

// surrogate returns the surrogate that s begins with, 0 for none.
func surrogate(s string) rune {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2]&0xc0 != 0x80 {
		return 0
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f)
}

// Whole returns a text that was put together from pieces, in whole characters: halves that met are one, and what is no character is
// replaced.
func Whole(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	for s != "" {
		n := 0
		r, size := utf8.DecodeRuneInString(s)
		if half := surrogate(s); half != 0 {
			n = 3
			if r = utf16.DecodeRune(half, surrogate(s[3:])); r != utf8.RuneError {
				n = 6
			}
		}
		out.WriteRune(r)
		s = s[max(n, size):]
	}
	return out.String()
}

// joined is a text that comes in pieces. Its zero value is empty.
type joined struct{ tail string }

// add returns the text up to the last whole character, and keeps the rest for the next piece.
func (j *joined) add(s string) string {
	if j.tail == "" && (s == "" || s[len(s)-1] < utf8.RuneSelf && utf8.ValidString(s)) {
		return s
	}
	s = j.tail + s
	n := len(s) - begun(s)
	j.tail = s[n:]
	return Whole(s[:n])
}

// end returns what was kept, which nothing completes any more.
func (j *joined) end() string {
	s := Whole(j.tail)
	j.tail = ""
	return s
}

// begun returns the length of the character at the end of s that is not complete.
func begun(s string) int {
	if n := len(s) - 3; n >= 0 {
		if half := surrogate(s[n:]); half != 0 && half < 0xdc00 {
			return 3
		}
	}
	for n := 1; n < min(utf8.UTFMax, len(s)+1); n++ {
		if end := s[len(s)-n:]; utf8.RuneStart(end[0]) {
			if utf8.FullRuneInString(end) {
				return 0
			}
			return n
		}
	}
	return 0
}

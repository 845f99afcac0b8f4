package provider_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/provider"
)

// FuzzText proves that a JSON string is read as encoding/json reads it once its halves are whole, and that a text which is cut into two
// strings at any byte, or between the two escapes of a character, comes out whole.
func FuzzText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\uDE00\ud83d\\u0041\u00e9\n\"\/"`, "\"\xf0\x9f\x98\"", "\"\xed\xa0\xbd\"", `null`, `"\\ud83d"`, `"😀 é"`, `"\ud83d\u0041"`} {
		f.Add(s, 2)
	}
	f.Fuzz(func(t *testing.T, data string, at int) {
		var want string
		var got provider.Text
		wrong, err := json.Unmarshal([]byte(data), &want), json.Unmarshal([]byte(data), &got)
		if (wrong == nil) != (err == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", data, err, wrong)
		}
		if whole := provider.Whole(string(got)); !strings.Contains(data, "\xed") && whole != want {
			t.Fatalf("%q: got %q, want %q", data, whole, want)
		}
		if !utf8.ValidString(want) || !utf8.ValidString(provider.Whole(data)) {
			t.Fatalf("%q: not whole characters", data)
		}
		if strings.ContainsRune(want, utf8.RuneError) || len(want) == 0 {
			return
		}
		at = max(at, -at) % (len(want) + 1)
		pieces := ""
		for _, half := range []string{escaped(want[:max(at, 0)]), escaped(want[max(at, 0):])} {
			var p provider.Text
			if err := json.Unmarshal([]byte(`"`+half+`"`), &p); err != nil {
				t.Fatalf("%q: %v", half, err)
			}
			pieces += string(p)
		}
		if provider.Whole(pieces) != want {
			t.Fatalf("%q cut at %d: got %q", want, at, provider.Whole(pieces))
		}
	})
}

// escaped returns bytes as they stand within a JSON string.
func escaped(s string) string {
	var out strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out.WriteString(`\` + string(c))
		case c < ' ':
			out.WriteString(`\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

package mask_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"quarry/internal/agent/tool/mask"
)

// secrets are what the forms are made of: plain, with what is escaped in JSON and in addresses, beyond ASCII, of the least length.
var secrets = []string{"sk_live_51HxTqp9QmzW", "p&ss \"wörd\" <1>/é", "日本語の秘密の鍵です", "a+b/c d=e?f%20g", `back\slash\\two`, "12345678", "😀 grin & bear", "tab\tnew\nline"}

func everyByte(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

func everyUnit(s, format string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, format, unit)
	}
	return b.String()
}

func everyLetter(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

// encodings are the forms in which a secret must not be read.
var encodings = map[string]func(string) string{
	"plain":               func(s string) string { return s },
	"json":                mask.Escaped,
	"json, escaped":       func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"json, slashes":       func(s string) string { return strings.ReplaceAll(mask.Escaped(s), "/", `\/`) },
	"json, units":         func(s string) string { return everyUnit(s, `\u%04x`) },
	"json, upper units":   func(s string) string { return everyUnit(s, `\u%04X`) },
	"json in json":        func(s string) string { return mask.Escaped(`{"a":"` + mask.Escaped(s) + `"}`) },
	"json in json, units": func(s string) string { return mask.Escaped(everyUnit(s, `\u%04x`)) },
	"json in json, slash": func(s string) string { return mask.Escaped(strings.ReplaceAll(mask.Escaped(s), "/", `\/`)) },
	"query":               url.QueryEscape,
	"path":                url.PathEscape,
	"query, lower":        func(s string) string { return lower(url.QueryEscape(s)) },
	"percent, every byte": func(s string) string { return everyByte(s, "%%%02x") },
	"percent, upper":      func(s string) string { return everyByte(s, "%%%02X") },
	"percent in json":     func(s string) string { return mask.Escaped(url.PathEscape(mask.Escaped(s))) },
	"html":                html.EscapeString,
	"html, names": func(s string) string {
		return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s)
	},
	"html, every letter":   func(s string) string { return everyLetter(s, "&#%d;") },
	"html, in hex":         func(s string) string { return everyLetter(s, "&#x%X;") },
	"html in json":         func(s string) string { b, _ := json.Marshal(html.EscapeString(s)); return string(b) },
	"json in html":         func(s string) string { return html.EscapeString(mask.Escaped(s)) },
	"address in html":      func(s string) string { return html.EscapeString("?a=1&b=" + url.QueryEscape(s)) },
	"hex":                  func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, upper":           func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"base64":               func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64, unpadded":     func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64, url":          func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) },
	"base64, url unpadded": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"basic":                func(s string) string { return base64.StdEncoding.EncodeToString([]byte("user:" + s)) },
	"base64, second byte":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("u" + s + "v")) },
	"base64, third byte":   func(s string) string { return base64.URLEncoding.EncodeToString([]byte("uv" + s + "wx")) },
	"base64 in json": func(s string) string {
		return mask.Escaped(strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`))
	},
	"base64 in an address": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte("token=" + s))) },
	"json in base64": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(`{"t":"` + mask.Escaped(s) + `"}`))
	},
}

// lower returns an address with its escapes in small letters.
func lower(s string) string {
	out := []byte(s)
	for i := range out {
		if out[i] == '%' {
			copy(out[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(out)
}

// TestForms proves that a secret is replaced in each form in which others repeat it, alone and inside a text, and that what stands
// around it stays.
func TestForms(t *testing.T) {
	t.Parallel()
	m := mask.New(secrets...)
	for name, encode := range encodings {
		for _, secret := range secrets {
			form := encode(secret)
			for _, text := range []string{form, "it is " + form + ", they said", `{"token":"` + form + `"}`} {
				got := m.Text(text)
				if strings.Contains(got, form) || !strings.Contains(got, mask.Masked) {
					t.Errorf("%s of %q: %q is shown as %q", name, secret, text, got)
				}
				for _, part := range []string{"it is ", ", they said", `{"token":"`, `"}`} {
					if strings.Contains(text, part) && !strings.Contains(got, part) {
						t.Errorf("%s of %q: %q lost %q: %q", name, secret, text, part, got)
					}
				}
			}
		}
	}
}

// TestNothingIsLeft proves that of a secret in base64 not even the characters stay that hold a part of it.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	m := mask.New("openSesame42")
	for text, want := range map[string]string{"user:openSesame42": "dXNlcj****=", "u:openSesame42:v": "dT****6dg==", "openSesame42": "****"} {
		if got := m.Text("Basic " + base64.StdEncoding.EncodeToString([]byte(text))); got != "Basic "+want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestShort proves that a value of fewer than eight characters is masked where it is the whole of a text, and nowhere else.
func TestShort(t *testing.T) {
	t.Parallel()
	m := mask.New("abc1234", "id", "7", "12345678")
	value := map[string]any{"id": "id", "text": "the id abc1234", "is": "abc1234", "n": json.Number("7"), "long": json.Number("12345678"), "list": []any{"7", "77"}}
	want := map[string]any{"id": "****", "text": "the id abc1234", "is": "****", "n": json.Number("7"), "long": "****", "list": []any{"****", "77"}}
	if got := m.Value(value); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFound proves that the secrets in a value are named, in whatever form they stand there.
func TestFound(t *testing.T) {
	t.Parallel()
	m := mask.New("first secret", "second secret", "third secret", "abc")
	value := map[string]any{"a": []any{"Basic " + base64.StdEncoding.EncodeToString([]byte("u:second secret"))}, "third secret": "abc"}
	if got := m.Found(value); !slices.Equal(got, []string{"abc", "second secret", "third secret"}) {
		t.Errorf("found %q", got)
	}
	var none *mask.Mask
	if none.Found(value) != nil || none.With() != nil {
		t.Error("no secrets, and some are found")
	}
}

// TestWith proves that a mask learns of further values, and stays the same one if there are none.
func TestWith(t *testing.T) {
	t.Parallel()
	m := mask.New("first secret")
	if m.With("first secret", "") != m {
		t.Error("a mask that has all values is made anew")
	}
	if got := m.With("second secret").Text("first secret and second secret"); got != "**** and ****" {
		t.Errorf("shown as %q", got)
	}
}

// TestMessage proves that the beginning of a secret is replaced in the message of a library.
func TestMessage(t *testing.T) {
	t.Parallel()
	m := mask.New("openSesame42-öffne-dich")
	for text, want := range map[string]string{
		`can't add: "openSesame42-ö ..." to a number`: `can't add: "**** ..." to a number`, "openSesa": "****", "openSes": "openSes", "whole openSesame42-öffne-dich": "whole ****",
	} {
		if got := m.Message(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestTrim proves that a text that was cut within a secret, or an escape of it, loses its beginning.
func TestTrim(t *testing.T) {
	t.Parallel()
	m := mask.New("secret-token", "secret-key-of-a-kind")
	for text, want := range map[string]string{
		"it is secret-to": "it is ", "it is secret-k": "it is ", "it is s": "it is ", "": "", "secret-tok": "", "no": "no",
		"it is %73%65%63%72%65%7": "it is ", `it is \u0073\u0065\u00`: "it is ", `it is \\u0073\\u0065\\u00`: "it is ",
	} {
		if got := m.Trim(text); got != want {
			t.Errorf("%q is trimmed to %q, want %q", text, got, want)
		}
	}
	quoted := mask.New(`secret<>"token`)
	for _, format := range []string{"it is %s", `{\"said\": \"it is %s`} {
		whole := fmt.Sprintf(format, html.EscapeString(`secret<>"token`))
		for n := len("secret"); n < len(html.EscapeString(`secret<>"token`)); n++ {
			if got := quoted.Trim(whole[:strings.Index(whole, "secret")+n]); strings.Contains(got, "secret") {
				t.Errorf("cut after %d: %q", n, got)
			}
		}
	}
	for n := range len("secret-token") {
		if got := m.Trim("at: " + url.QueryEscape("é secret-token")[:len(url.QueryEscape("é "))+n]); strings.Contains(got, "s") {
			t.Errorf("cut after %d: %q", n, got)
		}
	}
	var none *mask.Mask
	if none.Trim("secret") != "secret" {
		t.Error("without secrets nothing is trimmed")
	}
}

// FuzzText proves that no text makes a mask panic, and that a secret is gone from every text that it is put into.
func FuzzText(f *testing.F) {
	for name, encode := range encodings {
		f.Add(encode(name), 3, "and "+encode("openSesame42"))
	}
	m := mask.New("openSesame42", "öffne dich + bitte")
	f.Fuzz(func(t *testing.T, text string, at int, more string) {
		m.Trim(text)
		m.Message(text)
		at = max(0, min(at, len(text))) // a backslash before an escape makes another one of it
		for _, encode := range encodings {
			form := encode("openSesame42")
			if got := m.Text(strings.TrimRight(text[:at], `\`) + form + more); strings.Contains(got, form) {
				t.Errorf("%q is left in %q", form, got)
			}
		}
	})
}

// BenchmarkText masks a MiB of text with a hundred secrets of a hundred characters: plain, and as JSON within JSON.
func BenchmarkText(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/-_ "
	text := func(n int) string {
		out := make([]byte, n)
		for i := range out {
			out[i] = letters[random.IntN(len(letters))]
		}
		return string(out)
	}
	values := make([]string, 100)
	for i := range values {
		values[i] = text(100)
	}
	plain := []byte(text(1 << 20))
	for i := 0; i < len(plain)-200; i += 10_000 {
		copy(plain[i:], values[i/10_000%100])
	}
	quoted := mask.Escaped(strings.ReplaceAll(string(plain), "a", `"`))
	m := mask.New(values...)
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			mask.New(values...)
		}
	})
	for name, s := range map[string]string{"plain": string(plain), "quoted": quoted[:1<<20], "percent": url.PathEscape(string(plain))[:1<<20]} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				m.Text(s)
			}
		})
	}
}

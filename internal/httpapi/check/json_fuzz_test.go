package check

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/fault"
)

func FuzzParseJSON(f *testing.F) {
	// Proves, inside the package, that Parse never takes what encoding/json refuses, returns the same value as it,
	// and refuses with one named place; and that what it takes is whole UTF-8 without NUL.
	for _, seed := range []string{
		`{"key":"k","n":1.50,"list":[true,null,{"a":"ü"}]}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":"\u0000"}`, `{"\u0000":1}`,
		"{\"a\":\"\x00\"}", "{\"a\":\"\xff\"}", `{} {}`, `{}x`, `[1,]`, `[,1]`, `[1}`, `{"a"}`, `{"a":}`, `{1:2}`, `{"a":1,}`, `"text"`, `1e400`, `-0`,
		`1e999999999`, `"\ud800"`, `nul`, ``, ` `, "\ufeff{}", strings.Repeat("[", 300), strings.Repeat(`{"a":`, 250) + "1" + strings.Repeat("}", 250),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Parse(raw, "body")
		if err != nil {
			bad, ok := fault.As(err)
			if !ok || bad.Kind != fault.KindInvalid || len(bad.Fields) != 1 || !strings.HasPrefix(bad.Paths()[0], "body") {
				t.Fatalf("%q: refused with %v, want one field under body", raw, err)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil || !json.Valid(raw) {
			t.Fatalf("%q: taken, but encoding/json says %v", raw, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %v, want %v", raw, got, want)
		}
		again, err := json.Marshal(got)
		if err != nil || !utf8.Valid(raw) || bytes.Contains(raw, []byte{0}) || bytes.Contains(again, []byte(`\u0000`)) && !bytes.Contains(again, []byte(`\\u0000`)) {
			t.Fatalf("%q: taken with what no text may hold (%v)", raw, err)
		}
	})
}

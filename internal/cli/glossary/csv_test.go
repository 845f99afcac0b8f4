package glossary

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/glossary"
)

// TestParse proves what a CSV file says, and which line of it is wrong.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ file, want, wrong string }{
		{"a,b\nc,d", "1 a=b|2 c=d", ""},
		{"\ufeffTerm,Expansion\r\na,b\r\n\r\n c d , e f \r\n", "2 a=b|4 c d=e f", ""},
		{"a,term,x", "", "line 1: must have a term and an expansion"},
		{"\"a \"\"b\"\",\", \"c\r\nd\"\r\ne,f\n", "1 a \"b\",=c\r\nd|3 e=f", ""},
		{"\" a\",\"b\n\"\n\n\"c\",d", "1  a=b\n|4 c=d", ""},
		{"a,b\na,b\n", "1 a=b", ""},
		{"term,expansion\nterm,expansion\n", "2 term=expansion", ""},
		{"a,b\n\na,c\n", "", `line 3: the term "a" stands on line 1 with another expansion`},
		{"a,\"b\nc", "", "line 1: a quote that begins here has no end"},
		{"x,y\na,\"b\"c\n", "", "line 2: behind the end of a quote"},
		{"a,b \"c\"\n", "", "line 1: a quote stands inside"},
		{"x,\"y\nz\"\na\n", "", "line 3: must have a term and an expansion"},
		{"x,y\n,b\n", "", "line 2: the term must have a character"},
		{"x,y\na,\n", "", "line 2: must not be empty"},
		{"x,y\n" + strings.Repeat("a", 201) + ",b\n", "", "line 2: the term must be at most 200 characters long"},
		{"x,y\nb,caf\xe9\n", "", "line 2: is not UTF-8"},
		{"\n\n", "", ""},
	} {
		rows, err := parse([]byte(tt.file))
		var got []string
		for _, r := range rows {
			got = append(got, string(rune('0'+r.line))+" "+r.Term+"="+r.Expansion)
		}
		switch {
		case tt.wrong != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.wrong)):
			t.Errorf("%q: %v, want %q", tt.file, err, tt.wrong)
		case tt.wrong == "" && (err != nil || strings.Join(got, "|") != tt.want):
			t.Errorf("%q: got %q, %v, want %q", tt.file, got, err, tt.want)
		}
	}
}

// TestRoundTrip proves that what is written as CSV is read back as it was.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	want := []glossary.Entry{
		{Term: "a", Expansion: "b"}, {Term: `"`, Expansion: `""`}, {Term: "a,b", Expansion: "c\r\nd\re\n"}, {Term: " a", Expansion: "\tb "},
		{Term: "term", Expansion: "expansion"}, {Term: "油圧", Expansion: "=1+1"}, {Term: "\ufeffx", Expansion: "x\u2028"}, {Term: "#", Expansion: "${x}"},
	}
	var b strings.Builder
	b.WriteString("term,expansion\n")
	for _, e := range want {
		if err := write(&b, e); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	var got []glossary.Entry
	for _, r := range rows {
		got = append(got, r.Entry)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse proves that no file makes the reader fail otherwise than by an error, and that what it reads can be written and read back.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a,b\n\"c\",\"d\"\"\r\n\"\n"))
	f.Add([]byte("\"\r"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rows, err := parse(raw)
		if err != nil {
			return
		}
		var b strings.Builder
		b.WriteString("term,expansion\n")
		for _, r := range rows {
			_ = write(&b, r.Entry)
		}
		again, err := parse([]byte(b.String()))
		if err != nil || len(again) != len(rows) {
			t.Fatalf("%q: %d rows, read back %d (%v)", raw, len(rows), len(again), err)
		}
		for i := range rows {
			if rows[i].Entry != again[i].Entry {
				t.Fatalf("%q became %q", rows[i].Entry, again[i].Entry)
			}
		}
	})
}

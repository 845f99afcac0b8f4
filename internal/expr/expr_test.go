package expr_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/expr"
)

var kinds = map[expr.Kind]string{
	expr.Name: "name", expr.Integer: "int", expr.Real: "real", expr.Text: "text", expr.Symbol: "sym", expr.Bad: "bad",
	expr.BackText: "back",
}

func tokens(text string) string {
	var all []string
	l := expr.NewLexer(text)
	for t := l.Next(); t.Kind != expr.End; t = l.Next() {
		all = append(all, kinds[t.Kind]+":"+t.Value)
	}
	return strings.Join(all, " ")
}

// TestNext proves how text is split into tokens: the longest symbol first, numbers, doubled quotes and bad tokens.
func TestNext(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{"", ""},
		{" \t\r\n", ""},
		{"a<=b", "name:a sym:<= name:b"},
		{"a===b!==c==d!=e<>f", "name:a sym:=== name:b sym:!== name:c sym:== name:d sym:!= name:e sym:<> name:f"},
		{"a&&b||!c?d:e", "name:a sym:&& name:b sym:|| sym:! name:c sym:? name:d sym:: name:e"},
		{"1 1.5 1. .5 1e3 1E-3 2e 3e+", "int:1 real:1.5 real:1. real:.5 real:1e3 real:1E-3 int:2 name:e int:3 name:e sym:+"},
		{"1.2.3", "real:1.2 real:.3"},
		{"-5", "sym:- int:5"},
		{"doc.a", "name:doc sym:. name:a"},
		{"größe_2 数", "name:größe_2 name:数"},
		{"'Ann''s' \"say \"\"hi\"\"\" `b``q` ''", "text:Ann's text:say \"hi\" back:b`q text:"},
		{"'open", "bad:'open"},
		{"'it''", "bad:'it''"},
		{"a;b", "name:a bad:; name:b"},
		{"\x00\xff", "bad:\x00 bad:\xff"},
		{"😀", "bad:😀"},
	} {
		if got := tokens(tc.text); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.text, got, tc.want)
		}
	}
}

// TestMember proves that names after a period may begin with a digit or be quoted, and that no space is skipped.
func TestMember(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text, value, rest string
		ok                bool
	}{
		{"2nd = 1", "2nd", " = 1", true},
		{"a-b", "a", "-b", true},
		{`"any name".x`, "any name", ".x", true},
		{"`q`", "q", "", true},
		{" a", "", " a", false},
		{`""`, "", "", false},
		{`"open`, `"open`, "", false},
		{"", "", "", false},
	} {
		l := expr.NewLexer(tc.text)
		m, ok := l.Member()
		got := []string{m.Value, l.Rest(), fmt.Sprint(ok)}
		if d := cmp.Diff([]string{tc.value, tc.rest, fmt.Sprint(tc.ok)}, got); d != "" {
			t.Errorf("%q: %s", tc.text, d)
		}
	}
}

// TestSkip proves that reading continues after the bytes that the caller has taken from Rest.
func TestSkip(t *testing.T) {
	t.Parallel()
	l := expr.NewLexer("a-b c")
	l.Next()
	l.Skip(2)
	if got := l.Next(); got.Value != "c" || got.Start != 4 || got.End != 5 {
		t.Errorf("got %+v, want c at 4", got)
	}
}

// TestPosition proves that lines count from 1 and columns from 0 in code points.
func TestPosition(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text              string
		offset, line, col int
	}{
		{"", 0, 1, 0}, {"abc", 2, 1, 2}, {"é😀x", 6, 1, 2}, {"a\nb", 2, 2, 0}, {"a\r\nbc", 4, 2, 1}, {"\n\n", 2, 3, 0}, {"a", 9, 1, 1},
	} {
		line, col := expr.Position(tc.text, tc.offset)
		if line != tc.line || col != tc.col {
			t.Errorf("%q at %d: got %d:%d, want %d:%d", tc.text, tc.offset, line, col, tc.line, tc.col)
		}
	}
}

// FuzzNext proves that tokens cover the text in order, with nothing but white space between them, on any input.
func FuzzNext(f *testing.F) {
	for _, s := range []string{"doc.a = 'x''y'", "1.e5 .5 1..2", "`open", "\xff\x00 é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, at := expr.NewLexer(text), 0
		for {
			k := l.Next()
			if k.Start < at || k.End < k.Start || strings.TrimSpace(text[at:k.Start]) != "" {
				t.Fatalf("%q: token %+v after offset %d", text, k, at)
			}
			if k.Kind == expr.End {
				break
			}
			if k.End == k.Start {
				t.Fatalf("%q: empty token %+v", text, k)
			}
			at = k.End
		}
		if at > len(text) {
			t.Fatalf("%q: read past the end", text)
		}
	})
}

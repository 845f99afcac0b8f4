package command

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestFit proves that a line is made to fit by its texts first and by the name of the row last, and that nothing shrinks
// below what can be read.
func TestFit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		widths, want []int
		limit        int
	}{
		{"fits", []int{5, 5}, []int{5, 5}, 12},
		{"the last first", []int{30, 20, 60}, []int{30, 20, 26}, 80},
		{"then the widest", []int{10, 40, 20, 60}, []int{10, 15, 15, 14}, 60},
		{"the first at the end", []int{60, 10}, []int{30, 8}, 40},
		{"too narrow", []int{60, 60, 60}, []int{8, 8, 8}, 10},
		{"one column", []int{60}, []int{20}, 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := append([]int(nil), tc.widths...)
			fit(got, tc.limit)
			for i := range got {
				if got[i] != tc.want[i] {
					t.Fatalf("got %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// TestTableOffTheTerminal proves that columns are aligned by what a terminal shows, that a row stays on a line, that a name can't
// control the terminal, and that nothing is cut where nobody looks.
func TestTableOffTheTerminal(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 60) + "end"
	var b bytes.Buffer
	Table(&b, []string{"KEY", "NAME", "TEXT"}, [][]string{{"a", "日本語", long}, {"bcdef", "e\u0301", "two\nlines"}, {"x", "\x1b[31mred", ""}})
	want := "KEY    NAME      TEXT\n" +
		"a      日本語    " + long + "\n" +
		"bcdef  e\u0301         two lines\n" +
		"x      \uFFFD[31mred\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestWrapper proves that lines break between words and nowhere else, whatever the pieces that the text comes in, and that
// off the terminal a text stays as it is.
func TestWrapper(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, want string
		width            int
	}{
		{"no limit", "one two\n  three  four\n\nfive", "  one two\n    three  four\n\n  five", 0},
		{"between words", "one two three", "  one two\n  three", 10},
		{"long word", "a incomprehensibilities b", "  a\n  incomprehensibilities\n  b", 10},
		{"wide", "한국 한국 한국", "  한국\n  한국\n  한국", 10},
		{"bold takes no room", "one \x1b[1mtwo\x1b[22m three", "  one \x1b[1mtwo\x1b[22m\n  three", 10},
		{"no spaces", "日本語の文章", "  日本語の\n  文章", 10},
		{"bold without spaces", "日本\x1b[1m語の\x1b[22m文章", "  日本\x1b[1m語の\x1b[22m\n  文章", 10},
		{"own lines", "one two\nthree", "  one two\n  three", 10},
	} {
		for _, piece := range []int{1, 3, 1000} {
			var b bytes.Buffer
			w := &Wrapper{to: &b, width: tc.width, indent: "  "}
			for rest := []rune(tc.text); len(rest) > 0; {
				n := min(piece, len(rest))
				if _, err := io.WriteString(w, string(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if b.String() != tc.want {
				t.Errorf("%s in pieces of %d: got\n%q\nwant\n%q", tc.name, piece, b.String(), tc.want)
			}
		}
	}
}

// TestHuman proves the short forms of numbers and times.
func TestHuman(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 9949: "9.9k", 9950: "10k", 569201: "569k", 999_499: "999k", 999_500: "1.0M", 12_345_678: "12M", 5_000_000_000: "5.0G", 1 << 62: "4611686T"} {
		if got := Short(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
	if got := Second("2026-11-22T15:01:30.65535Z"); got != "2026-11-22T15:01:30Z" {
		t.Errorf("got %s", got)
	}
	for _, unknown := range []string{"", "yesterday"} {
		if Second(unknown) != unknown || Age(unknown) != unknown {
			t.Errorf("%q is changed", unknown)
		}
	}
	if got := Age("1990-01-01T00:00:00Z"); !strings.HasSuffix(got, "y") {
		t.Errorf("got %s", got)
	}
}

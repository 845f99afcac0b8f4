package sheet_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/sheet"
)

// draw fills a sheet from lines, a cell a character; spaces are empty.
func draw(t testing.TB, lines ...string) *sheet.Sheet {
	t.Helper()
	s := new(sheet.Book).Sheet()
	for r, line := range lines {
		for c, x := range []byte(line) {
			if err := s.Set(r, c, string(x)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

func write(t testing.TB, s *sheet.Sheet, b *outline.Builder) {
	t.Helper()
	if err := s.Write(b); err != nil {
		t.Fatal(err)
	}
}

// dump writes a tree with its tables one after the other: title, headers, rows.
func dump(b *outline.Builder) string {
	var out strings.Builder
	for _, s := range b.Sections() {
		fmt.Fprintf(&out, "%q", s.Text)
		for _, t := range s.Tables {
			fmt.Fprintf(&out, "|%s%s%s", t.Title, t.Headers, t.Rows)
		}
	}
	return out.String()
}

// TestWrite proves which cells are one table, and what is its title, header or text beside it.
func TestWrite(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines         []string
		want, records string // records if other than want
	}{
		"one block":                      {[]string{"ab", "cd", "ef"}, `""|[[a b]][[c d] [e f]]`, ""},
		"side by side":                   {[]string{"ab cd", "ef gh"}, `""|[[a b]][[e f]]|[[c d]][[g h]]`, `""|[[a b  c d]][[e f  g h]]`},
		"corners do not touch":           {[]string{"ab", "cd", "  ef", "  gh"}, `""|[[a b]][[c d]]|[[e f]][[g h]]`, `""|[[a b  ]][[c d  ] [  e f] [  g h]]`},
		"empty cells inside, and a hole": {[]string{"abc", "d e", "fgh"}, `""|[[a b c]][[d  e] [f g h]]`, ""},
		"a box inside another":           {[]string{"abcde", "f   g", "h i j", "k   l", "mnopq"}, `""|[[a b c d e]][[f    g] [h  i  j] [k    l] [m n o p q]]`, ""},
		"boxes that meet as they grow":   {[]string{"a  b", "c dd", "e  f", "gg h", " i j"}, "", "-"},
		"one cell, one row, one column":  {[]string{"a", "", "bc", "", "d", "e"}, `"a"|[][[b c]]|[[d]][[e]]`, ""},
		"a title above":                  {[]string{"t", "abc", "def"}, `""|t[[a b c]][[d e f]]`, ""},
		"a merged title above":           {[]string{"ttt", "abc", "def"}, `""|t[[a b c]][[d e f]]`, ""},
		"a header that begins empty":     {[]string{" b ", "abc", "def"}, `""|[[ b ]][[a b c] [d e f]]`, ""},
		"first cells alone":              {[]string{"aaa", "bbb"}, `""|[[a a a]][[b b b]]`, ""},
	} {
		var b outline.Builder
		write(t, draw(t, tt.lines...), &b)
		if got := dump(&b); tt.want != "" && got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
		if tt.records == "" {
			tt.records = tt.want
		}
		b = outline.Builder{}
		draw(t, tt.lines...).WriteRows(&b)
		if got := dump(&b); tt.records != "-" && got != tt.records {
			t.Errorf("%s as records: %s, want %s", name, got, tt.records)
		}
	}
}

// TestWriteKeepsEveryCell proves that each filled cell is written once, whatever the shape of the sheet, and that cells which
// touch are in one table.
func TestWriteKeepsEveryCell(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := new(sheet.Book).Sheet()
		want := map[string]bool{}
		for _, at := range rapid.SliceOfN(rapid.IntRange(0, 99), 0, 60).Draw(t, "cells") {
			text := fmt.Sprintf("c%d", at)
			if err := s.Set(at/10, at%10, text); err != nil {
				t.Fatal(err)
			}
			want[text] = true
		}
		var b outline.Builder
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, together := map[string]bool{}, map[string]int{}
		put := func(text string, n int) {
			if text == "" {
				return
			}
			if got[text] {
				t.Fatalf("%s stands twice", text)
			}
			got[text], together[text] = true, n
		}
		for _, sec := range b.Sections() {
			for i, word := range strings.Fields(sec.Text) {
				put(word, -1-i)
			}
			for n, table := range sec.Tables {
				put(table.Title, n)
				for _, row := range append(table.Headers, table.Rows...) {
					for _, text := range row {
						put(text, n)
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for at := range 100 {
			for _, next := range []int{at + 1, at + 10} {
				a, b := fmt.Sprintf("c%d", at), fmt.Sprintf("c%d", next)
				if want[a] && want[b] && (next == at+10 || at%10 < 9) && together[a] != together[b] {
					t.Fatalf("%s and %s touch and are apart", a, b)
				}
			}
		}
	})
}

// TestMerge proves that merged cells are repeated, also where whole columns are merged, and only as far as there is text.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := draw(t, "a b", "ccd")
	for _, m := range [][4]int{{0, 0, 0, 1}, {1, 2, 1 << 30, 1 << 30}, {5, 5, 6, 6}, {1, 0, 0, 0}} {
		s.Merge(m[0], m[1], m[2], m[3])
	}
	var b outline.Builder
	write(t, s, &b)
	if got, want := dump(&b), `""|[[a a b]][[c c d]]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLongTable proves that a long block is several tables with the same header, and that no row is lost.
func TestLongTable(t *testing.T) {
	t.Parallel()
	s := new(sheet.Book).Sheet()
	for r := range 1202 {
		for c := range 2 {
			if err := s.Set(r, c, fmt.Sprint(r, c)); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b outline.Builder
	s.WriteRows(&b)
	rows := 0
	for _, table := range b.Sections()[0].Tables {
		rows += len(table.Rows)
		if len(table.Rows) > 500 || table.Headers[0][0] != "0 0" {
			t.Errorf("a table of %d rows with the header %s", len(table.Rows), table.Headers)
		}
	}
	if rows != 1201 {
		t.Errorf("%d rows, want 1201", rows)
	}
}

// TestBounds proves that two cells far apart cost nothing, that a frame around nothing is text, and that too many cells are refused.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := new(sheet.Book).Sheet()
	for _, at := range [][2]int{{0, 0}, {1<<20 - 1, 1<<14 - 1}} {
		if err := s.Set(at[0], at[1], "x"); err != nil {
			t.Fatal(err)
		}
	}
	for c := range 5000 { // a frame
		for _, at := range [][2]int{{10, c}, {10 + c, 0}} {
			if err := s.Set(at[0], at[1], "y"); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b outline.Builder
	write(t, s, &b)
	if got := b.Sections()[0]; len(got.Tables) != 0 || strings.Count(got.Text, "y") != 9999 || strings.Count(got.Text, "x") != 2 {
		t.Errorf("%d tables, a text of %d bytes", len(got.Tables), len(got.Text))
	}
	for _, at := range [][2]int{{1 << 20, 0}, {0, 1 << 14}, {-1, 0}} {
		if err := s.Set(at[0], at[1], "x"); !errors.Is(err, outline.ErrUnparsable) {
			t.Errorf("a cell at %v: %v", at, err)
		}
	}
	err := s.Set(0, 0, "x")
	for r := 0; err == nil && r < 1<<20; r++ {
		err = errors.Join(s.Set(r, 1, "x"), s.Set(r, 2, "x"))
	}
	if !errors.Is(err, outline.ErrUnparsable) {
		t.Errorf("two million cells and more: %v", err)
	}
	long := strings.Repeat("x", 1<<20)
	s = new(sheet.Book).Sheet()
	for n := 0; n < 200 && (n == 0 || err == nil); n++ {
		err = s.Set(0, 0, long)
	}
	if !errors.Is(err, outline.ErrUnparsable) || !strings.Contains(err.Error(), "of text") {
		t.Errorf("one long text in many cells: %v", err)
	}
}

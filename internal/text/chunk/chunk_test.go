package chunk_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/text/chunk"
	"quarry/internal/text/sentence"
)

func TestSplit(t *testing.T) {
	t.Parallel() // Proves both strategies: sentences alone, and sentences joined up to a limit.
	tests := []struct {
		name, text string
		max        int
		want       []chunk.Chunk
	}{
		{"empty", " \n", 0, nil},
		{"sentences", "Open it. Größe zählt.\n\nEnd", 0, []chunk.Chunk{
			{Text: "Open it.", Offset: 0, Len: 8}, {Text: "Größe zählt.", Offset: 9, Len: 12}, {Text: "End", Offset: 23, Len: 3},
		}},
		{"joined while they fit", "Aa b. Cc d. Ee f.", 11, []chunk.Chunk{
			{Text: "Aa b. Cc d.", Offset: 0, Len: 11}, {Text: "Ee f.", Offset: 12, Len: 5},
		}},
		{"one short of fitting", "Aa b. Cc d.", 10, []chunk.Chunk{
			{Text: "Aa b.", Offset: 0, Len: 5}, {Text: "Cc d.", Offset: 6, Len: 5},
		}},
		{"code points count, not bytes", "ää ö. üü ß.", 11, []chunk.Chunk{{Text: "ää ö. üü ß.", Offset: 0, Len: 11}}},
		{"long sentence is cut at words", "one two three four.", 9, []chunk.Chunk{
			{Text: "one two", Offset: 0, Len: 7}, {Text: "three", Offset: 8, Len: 5}, {Text: "four.", Offset: 14, Len: 5},
		}},
		{"a word longer than the limit is cut hard", "abcdefgh", 3, []chunk.Chunk{
			{Text: "abc", Offset: 0, Len: 3}, {Text: "def", Offset: 3, Len: 3}, {Text: "gh", Offset: 6, Len: 2},
		}},
		{"no cut before a combining mark", "abe\u0301f", 3, []chunk.Chunk{
			{Text: "ab", Offset: 0, Len: 2}, {Text: "e\u0301f", Offset: 2, Len: 3},
		}},
		{"Chinese is cut behind a comma", "压力下降，阀门打开", 7, []chunk.Chunk{
			{Text: "压力下降，", Offset: 0, Len: 5}, {Text: "阀门打开", Offset: 5, Len: 4},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, chunk.Split(tt.text, chunk.Strategy{MaxChars: tt.max})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitKeepsWhole(t *testing.T) {
	t.Parallel() // Proves that places such as code are one chunk each, with exact offsets, unless they are very long or out of order.
	code := "a = 1. B = 2\n\n  # Größe. Done.\n"
	text := "Run it. So:\n\n" + code + "\nThen look. End"
	start := strings.Index(text, "a = 1")
	line := strings.TrimSpace(strings.Repeat("x. Y ", 200))
	long := strings.Repeat(line+"\n", 9)
	four := strings.TrimSpace(strings.Repeat(line+"\n", 4))
	for _, c := range []struct {
		text  string
		whole []sentence.Span
		want  []string
	}{
		{text, []sentence.Span{{Start: start, End: start + len(code)}}, []string{"Run it.", "So:", strings.TrimSpace(code), "Then look.", "End"}},
		{text, nil, []string{"Run it.", "So:", "a = 1.", "B = 2", "# Größe.", "Done.", "Then look.", "End"}},
		{"A. B. C.", []sentence.Span{{Start: 3, End: 8}, {Start: 0, End: 2}, {Start: 8, End: 9}}, []string{"A.", "B. C."}},
		{"A. \n B.", []sentence.Span{{Start: 2, End: 5}}, []string{"A.", "B."}},
		{long, []sentence.Span{{Start: 0, End: len(long)}}, []string{four, four, line}},
		{"A:\n\n\n  b()\n\n", []sentence.Span{{Start: 2, End: 12}}, []string{"A:", "  b()"}},
	} {
		var got []string
		runes := []rune(c.text)
		for _, k := range chunk.Split(c.text, chunk.Strategy{Code: c.whole}) {
			got = append(got, k.Text)
			if string(runes[k.Offset:k.Offset+k.Len]) != k.Text {
				t.Errorf("%q is not at %d", k.Text, k.Offset)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%.30q (-want +got):\n%s", c.text, diff)
		}
	}
}

// unit is a list item, a line of code or a row of a table in a text.
type unit struct {
	text       string
	start, end int // in code points
}

// drawn returns a text of sentences, lists, code and rows of tables, its units, and the places of code.
func drawn(rt *rapid.T) (text string, units []unit, code []sentence.Span) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"valve", "Größe", "3.5", "bar.", "Open", "it.", "汉字", "(see", "x)", "i.e."}), 1, 12)
	var b strings.Builder
	add := func(line string, counts bool) {
		start := utf8.RuneCountInString(b.String())
		b.WriteString(line)
		if counts {
			units = append(units, unit{line, start, start + utf8.RuneCountInString(line)})
		}
	}
	for range rapid.IntRange(1, 5).Draw(rt, "blocks") {
		kind := rapid.SampledFrom([]string{"prose", "list", "code", "table"}).Draw(rt, "kind")
		begin := b.Len()
		for i := range rapid.IntRange(2, 6).Draw(rt, "lines") {
			if i > 0 {
				b.WriteByte('\n')
			}
			some := words.Draw(rt, "words")
			switch kind {
			case "prose":
				add("The "+strings.Join(some, " "), false)
			case "list":
				add("- The "+strings.Join(some, " "), true)
			case "code":
				add(strings.Repeat(" ", i%3*2)+"f("+strings.Join(some, " "), true)
			case "table":
				add("The   "+strings.Join(some, "\t"), true)
			}
		}
		if kind == "code" {
			code = append(code, sentence.Span{Start: begin, End: b.Len()})
		}
		b.WriteString("\n\n")
	}
	return b.String(), units, code
}

// TestSplitKeepsUnits proves that no list item, line of code or row of a table is cut while it fits, and that the pieces of a longer one stand with
// no other unit, for any text and limit.
func TestSplitKeepsUnits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text, units, code := drawn(rt)
		limit := rapid.IntRange(5, 120).Draw(rt, "limit")
		chunks := chunk.Split(text, chunk.Strategy{MaxChars: limit, Code: code})
		for _, u := range units {
			fits := utf8.RuneCountInString(u.text) <= limit
			for _, c := range chunks {
				over := min(c.Offset+c.Len, u.end) - max(c.Offset, u.start)
				switch {
				case over <= 0 || strings.Contains(c.Text, strings.TrimSpace(u.text)):
				case fits:
					rt.Fatalf("limit %d: %q is cut: %q of\n%s", limit, u.text, c.Text, text)
				case c.Offset < u.start || c.Offset+c.Len > u.end:
					rt.Fatalf("limit %d: a piece of %q is joined to its neighbour: %q", limit, u.text, c.Text)
				}
			}
		}
		for _, c := range chunk.Split(text, chunk.Strategy{Code: code}) { // of each sentence one: code and rows are not cut
			for _, u := range units {
				over := min(c.Offset+c.Len, u.end) - max(c.Offset, u.start)
				if over > 0 && !strings.HasPrefix(u.text, "-") && !strings.Contains(c.Text, strings.TrimSpace(u.text)) {
					rt.Fatalf("%q is cut: %q of\n%s", u.text, c.Text, text)
				}
			}
		}
	})
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// check fails the test unless the chunks are exact substrings in order, within the limit, that leave out only white
// space.
func check(t fataler, text string, limit int) {
	t.Helper()
	runes := []rune(text) // a byte that is not UTF-8 is one code point here, too
	offsets := make([]int, 0, len(runes)+1)
	for i := range text {
		offsets = append(offsets, i)
	}
	offsets = append(offsets, len(text))
	at := 0
	for _, c := range chunk.Split(text, chunk.Strategy{MaxChars: limit}) {
		if c.Offset < at || c.Len <= 0 || c.Offset+c.Len > len(runes) {
			t.Fatalf("chunk %+v after %d of %d", c, at, len(runes))
		}
		if want := text[offsets[c.Offset]:offsets[c.Offset+c.Len]]; c.Text != want {
			t.Fatalf("chunk %q is not the slice %q", c.Text, want)
		}
		if limit > 0 && utf8.RuneCountInString(c.Text) > limit {
			t.Fatalf("chunk of %d code points, limit %d", c.Len, limit)
		}
		if lost := text[offsets[at]:offsets[c.Offset]]; strings.TrimFunc(lost, unicode.IsSpace) != "" {
			t.Fatalf("lost %q", lost)
		}
		at = c.Offset + c.Len
	}
	if lost := text[offsets[at]:]; strings.TrimFunc(lost, unicode.IsSpace) != "" {
		t.Fatalf("lost %q", lost)
	}
}

func TestSplitLosesNothing(t *testing.T) {
	t.Parallel() // Proves exact slices, the limit and completeness for any text and limit.
	pieces := []string{
		"Dr.", " ", "\n", "\n\n", "word", "B.", "1.", "?", "。", "，", "（", "汉", "é", "e\u0301", "\u2028",
		"- ", "\x00", "\xff", "The", "😀", "👨\u200d👩", strings.Repeat("x", 30),
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(rt, "pieces"), "")
		check(rt, text, rapid.IntRange(0, 40).Draw(rt, "max"))
	})
}

func FuzzSplit(f *testing.F) {
	f.Add("Dr. Smith came. He sat.\n\n- x", 10)
	f.Add("\xff\u2028.é", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) { check(t, text, limit) })
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("Dr. Smith opened the valve and waited for a pressure of 3.5 bar. Then he left. ", 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		chunk.Split(text, chunk.Strategy{MaxChars: 512})
	}
}

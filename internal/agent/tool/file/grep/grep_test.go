package grep_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"quarry/internal/agent/tool/file/grep"
)

const poem = "One stone\ntwo Stones\r\nthree belts\n\nfive stonemasons, one stone\nsix\nseven\neight Ärzte\nnine\n"

func search(t testing.TB, text, pattern string, options ...string) (grep.Result, error) {
	t.Helper()
	o, err := grep.ParseOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	p, err := grep.Compile(pattern, o)
	if err != nil {
		t.Fatal(err)
	}
	return p.Search(t.Context(), iotest.HalfReader(strings.NewReader(text)))
}

// Proves that options select and show lines as grep does, in every spelling.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, options, want string
		lines                  int
	}{
		{"stone", "", "One stone\nfive stonemasons, one stone\n", 2},
		{"STONE", "-i", "One stone\ntwo Stones\nfive stonemasons, one stone\n", 3},
		{"stone", "-n", "1:One stone\n5:five stonemasons, one stone\n", 2},
		{"[eo]", "-v", "\nsix\n", 2},
		{"one", "-vn", "3:three belts\n4:\n6:six\n7:seven\n8:eight Ärzte\n9:nine\n", 6},
		{"stone", "-c", "2\n", 2},
		{"stone", "-w", "One stone\nfive stonemasons, one stone\n", 2},
		{"stones", "-iw", "two Stones\n", 1},
		{"rzte", "-w", "", 0},
		{"[a-z]+", "-wo -m 1", "stone\n", 1},
		{"one", "-on", "1:one\n2:one\n5:one\n5:one\n5:one\n", 3},
		{"one", "-own", "5:one\n", 1},
		{"one", "-ov", "", 6},
		{"stone$", "-n", "1:One stone\n5:five stonemasons, one stone\n", 2},
		{"Stones$", "-n", "2:two Stones\n", 1},
		{"^$", "-n", "4:\n", 1},
		{"three", "-n -A 1", "3:three belts\n4-\n", 1},
		{"three", "-nB1", "2-two Stones\n3:three belts\n", 1},
		{"three", "-nC 1", "2-two Stones\n3:three belts\n4-\n", 1},
		{"three", "-C1 -B 0", "three belts\n\n", 1},
		{"three|eight", "-nC1", "2-two Stones\n3:three belts\n4-\n--\n7-seven\n8:eight Ärzte\n9-nine\n", 2},
		{"six|eight", "-nC1", "5-five stonemasons, one stone\n6:six\n7-seven\n8:eight Ärzte\n9-nine\n", 2},
		{"e", "-m2 -n", "1:One stone\n2:two Stones\n", 2},
		{"three", "-m1 -nA2", "3:three belts\n4-\n5-five stonemasons, one stone\n", 1},
		{"e", "-m0", "", 0},
		{"e", "-c -m2", "2\n", 2},
		{`\bÄ`, "-n", "", 0},
		{"ä", "-ion", "8:Ä\n", 1},
		{"nothing", "-c", "0\n", 0},
		{"x*", "-o", "x\n", 9},
	} {
		t.Run(c.pattern+" "+c.options, func(t *testing.T) {
			t.Parallel()
			got, err := search(t, poem, c.pattern, c.options)
			if err != nil || got.Text != c.want || got.Lines != c.lines || got.Cut {
				t.Errorf("%+v, %v; want %q of %d lines", got, err, c.want, c.lines)
			}
		})
	}
}

// Proves that adjacent whole words are all found, and that what only looks like one is not.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, pattern, want string }{
		{"foo foo foo", "foo", "foo\nfoo\nfoo\n"},
		{"foobar barfoo foo_ éfoo foo", "foo", "foo\n"},
		{"foo@foo @foo", "@?foo", "foo\nfoo\n@foo\n"},
		{"foo-foo-", "foo-", "foo-\n"},
		{"- - -", "-", "-\n-\n-\n"},
	} {
		got, err := search(t, c.text, c.pattern, "-ow")
		if err != nil || got.Text != c.want {
			t.Errorf("%q in %q: %q, %v; want %q", c.pattern, c.text, got.Text, err, c.want)
		}
	}
}

// Proves that options that grep doesn't have here are refused with those that it has.
func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"-r", "-ir", "-", "--", "--ignore-case", "i", "3", "-A", "-A x", "-A-1", "-A 1001", "-m", "-m 99999999999", "-Ai", "-n3", "-é", "-C 1 2"} {
		if o, err := grep.ParseOptions([]string{c}); err == nil {
			t.Errorf("%q: %+v", c, o)
		}
	}
	_, err := grep.ParseOptions([]string{"-n", "-E"})
	if err == nil || !strings.Contains(err.Error(), `"-E"`) || !strings.Contains(err.Error(), "-i, -n, -v") {
		t.Error(err)
	}
}

// Proves that patterns that can't be used are refused at once with a reason, those that grow by repeats too.
func TestPatternsRefused(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		`((a{100}){100}){100}`:               "repeats too much",
		`(((((a{30}){30}){30}){30}){30})`:    "repeats too much",
		`a{1001}`:                            "repeats too much",
		`(?:\w{500})(?:\w{900}\d{900}x+){1}`: "",
		`(?:\pL{900}|\d{900}|.{900})`:        "too large",
		`(a`:                                 "RE2",
		`(?=a)`:                              "RE2",
		`(a)\1`:                              "RE2",
		strings.Repeat("a", 1001):            "1001 characters",
		strings.Repeat("(", 999) + "\xff":    "RE2",
	} {
		_, err := grep.Compile(pattern, grep.Options{Word: true})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40q: %v; want %q", pattern, err, want)
		}
	}
}

// Proves that what is shown is bounded while all is counted: many lines, and long ones, of which the match is shown.
func TestBounds(t *testing.T) {
	t.Parallel()
	got, err := search(t, strings.Repeat("a line of this text\n", 100_000), "line", "-nC2")
	if err != nil || got.Lines != 100_000 || !got.Cut || len(got.Text) > 130<<10 {
		t.Errorf("%d lines, %d bytes, cut %t, %v", got.Lines, len(got.Text), got.Cut, err)
	}
	got, err = search(t, strings.Repeat("x", 100_000)+" needle "+strings.Repeat("ä", 100_000)+"\nlast", "needle|last", "-n")
	if first, last, _ := strings.Cut(got.Text, "\n"); err != nil || got.Lines != 2 || !strings.Contains(first, "needle") || len(first) > 3_000 ||
		!strings.HasPrefix(first, "1:…") || !strings.HasSuffix(first, "…") || last != "2:last\n" {
		t.Errorf("%d lines, %v: %q", got.Lines, err, got.Text)
	}
	got, err = search(t, strings.Repeat("ä", 1<<20)+"\nlast", "ä", "-c") // longer than is searched at once
	if err != nil || got.Lines < 2 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = search(t, strings.Repeat("ä", 1<<20)+"\nlast", "\uFFFD|last", "-n"); err != nil || got.Text != "2:last\n" {
		t.Errorf("a character was cut: %+v, %v", got, err)
	}
}

// Proves that a binary is told from a text, wherever it shows, and that errors of reading are passed on.
func TestNoText(t *testing.T) {
	t.Parallel()
	if _, err := search(t, strings.Repeat("a\n", 300<<10)+"\x00", "b"); !errors.Is(err, grep.ErrBinary) {
		t.Error(err)
	}
	p, err := grep.Compile("a", grep.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Search(t.Context(), iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc")))); !errors.Is(err, iotest.ErrTimeout) {
		t.Error(err)
	}
}

// Proves that what options are read from never breaks the reading, and that whatever they select is what a plain search of
// the lines selects.
func FuzzSearch(f *testing.F) {
	f.Add("-in", "stone", poem)
	f.Add("-w -A 3", `[a-z]+\b`, poem)
	f.Add("-vC1", "^$|é", "a\n\né\r\n\xff")
	f.Add("-oc", "(?m)^a|b$", "a b\nb a")
	f.Add("-m3", `\B.\b`, "a b\n")
	f.Add("-c", `(?s).`, "\n\n")
	f.Fuzz(func(t *testing.T, options, pattern, text string) {
		o, err := grep.ParseOptions([]string{options})
		if err != nil {
			return
		}
		p, err := grep.Compile(pattern, o)
		if err != nil || strings.Contains(text, "\x00") || len(text) > 10_000 {
			return
		}
		got, err := p.Search(t.Context(), strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if o.Word {
			pattern = `(?:^|[^\pL\pN_])(?:` + pattern + `)(?:$|[^\pL\pN_])`
		}
		if o.Fold {
			pattern = "(?i)" + pattern
		}
		re, err := regexp.Compile(pattern)
		if err != nil {
			return // such as an unclosed \Q, which the group in front of it can't be closed behind
		}
		want := 0
		for line := range strings.Lines(text) {
			if o.Limited && want >= o.Most {
				break
			}
			line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
			if re.MatchString(line) != o.Invert {
				want++
			}
		}
		if got.Lines != want {
			t.Errorf("%q %q in %q: %d lines, want %d", options, pattern, text, got.Lines, want)
		}
	})
}

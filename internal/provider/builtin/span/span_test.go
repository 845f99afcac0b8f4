package span_test

import (
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/provider/builtin/span"
)

// Proves how numbers are read: separators of thousands and of fractions, signs, words.
func TestFigures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]float64{
		"The span is 1,280 metres.":          {1280},
		"It costs 9.50 or 9,5 dollars":       {9.5, 9.5},
		"1.234.567 people and −3 degrees":    {1234567, -3},
		"Three men in a boat of 2 tons":      {2, 3},
		"1,234,567.89":                       {1234567.89},
		"no number at all":                   nil,
		"12 000 pumps":                       {12000},
		"built in 1970, 1971":                {1970, 1971},
		"an absurd 99999999999999999999,999": {99999999999999999999999},
	} {
		if diff := cmp.Diff(want, span.Figures(text)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// Proves that what has a format is found, as the format wants it.
func TestFormatted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, text, want string }{
		{"date", "It opened on 27 May 1937.", "1937-05-27"},
		{"date", "Opened May 27, 1937; closed 2001-02-03", "1937-05-27"},
		{"date", "Am 3.4.2020 und am 31.02.2020", "2020-04-03"},
		{"date", "on 45 Foo 1999", ""},
		{"date-time", "due 2001-02-03", "2001-02-03T00:00:00Z"},
		{"time", "at 23:05 sharp", "23:05:00Z"},
		{"email", "write to a.b+c@mail.example.org.", "a.b+c@mail.example.org"},
		{"uri", "see https://x.test/a?b=c, or not", "https://x.test/a?b=c"},
		{"ipv4", "at 10.0.0.1 or 999.1.1.1", "10.0.0.1"},
		{"uuid", "id 123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"},
	} {
		if got, known := span.Formatted(c.format, c.text); got != c.want || !known {
			t.Errorf("%s in %q: %q, want %q", c.format, c.text, got, c.want)
		}
	}
	if _, known := span.Formatted("colour", "red"); known {
		t.Error("a format that there is not is known")
	}
}

// Proves that names, labelled values and named values are found, and only as whole words.
func TestWordsInText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{span.Name("The bridge was designed by Joseph Strauss, Irving Morrow and others.", "designer of the bridge"), "Joseph Strauss"},
		{span.Name("Ann Lee", ""), "Ann Lee"},
		{span.Name("nothing is capital in this sentence", ""), ""},
		{span.Labelled("Name: drill\nUnit price: 12 EUR.", "unitPrice"), "12 EUR"},
		{span.Labelled("The nickname: x", "name"), ""},
		{span.Labelled("a: b", ""), ""},
		{span.Cut("eins zwei drei", 10), "eins zwei"},
		{span.Cut("日本語", 2), "日本"},
		{span.Cut("x", 0), ""},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if !span.Named("It is International Orange.", "international_orange") || span.Named("a cart", "car") || span.Named("x", "") || !span.Named("there are 12.", 12.0) {
		t.Error("values are not found as whole words")
	}
	if !span.Denies("It doesn't fit.") || !span.Denies("Das ist nicht so.") || span.Denies("A notable fit") {
		t.Error("denials are not told")
	}
	if diff := cmp.Diff([]string{"search", "my", "corpora", "2"}, span.Words("searchMy_corpora-2")); diff != "" {
		t.Error(diff)
	}
}

// Proves that bounds admit what they should, and what is nearest.
func TestBounds(t *testing.T) {
	t.Parallel()
	b := span.ParseBounds(map[string]any{"exclusiveMinimum": 3.0, "maximum": 20.0, "multipleOf": 7.0}, true)
	for x, want := range map[float64]bool{3: false, 7: true, 14: true, 15: false, 21: false, 7.5: false} {
		if b.Admit(x) != want {
			t.Errorf("Admit(%g) is %v", x, !want)
		}
	}
	if b.Nearest(0) != 7 || b.Typed(7) != any(int64(7)) {
		t.Errorf("nearest to 0 is %g", b.Nearest(0))
	}
}

// FuzzShortest proves that what is made matches its pattern and stays short.
func FuzzShortest(f *testing.F) {
	for _, p := range []string{`^[A-Z]{3}-\d{2,4}$`, `(a|b)+c?`, `(x{1000}){1000}`, `\bword\b`, `[^a]`, `(`} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		text, ok := span.Shortest(pattern)
		if !ok {
			return
		}
		if re, err := regexp.Compile(pattern); err != nil || !re.MatchString(text) || utf8.RuneCountInString(text) > 20_000 {
			t.Errorf("%q made %q", pattern, text)
		}
	})
}

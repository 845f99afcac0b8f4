package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"quarry/internal/clip"
)

// TestHead proves that a text is cut to as many bytes as it may have, less those of a character that would be cut in two.
func TestHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 0, ""}, {"", 3, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""}, {"abc", -1, ""},
		{"äb", 1, ""}, {"äb", 2, "ä"}, {"a😀b", 4, "a"}, {"a😀b", 5, "a😀"}, {"😀", 3, ""},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80"}, {"\x80\x80\x80", 2, "\x80\x80"},
	} {
		if got := clip.Head(c.text, c.n); got != c.want {
			t.Errorf("Head(%q, %d) is %q, want %q", c.text, c.n, got, c.want)
		}
	}
}

// FuzzHead proves that nothing but a part of one character is lost, and that text in UTF-8 stays that.
func FuzzHead(f *testing.F) {
	f.Add("a😀ä", 3)
	f.Add("\xff\x80", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		got := clip.Head(text, n)
		if most := min(max(n, 0), len(text)); !strings.HasPrefix(text, got) || len(got) > most || len(got) < most-utf8.UTFMax+1 || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("Head(%q, %d) is %q", text, n, got)
		}
	})
}

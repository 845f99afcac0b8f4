package markup_test

import (
	"testing"

	"quarry/internal/answer/verify/markup"
)

// TestStrip proves that noise becomes as many spaces, and that words and bullets stay where they are.
func TestStrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"It is round [1].", "It is round    ."},
		{"Round [1, 2–4](https://a.b).", "Round                        ."},
		{"See [the page](https://a.b \"t\").", "See  the page                  ."},
		{"![moon](m.png) rises", "               rises"},
		{"at https://a.b/c now", "at               now"},
		{"**bold** and `code`", "  bold   and  code "},
		{"# Title", "  Title"},
		{"* one\n- two\n1. three", "- one\n- two\n1. three"},
		{"|---|---|", "         "},
		{"<b>round</b>", "   round    "},
		{"【4†source】so", "                so"},
		{"five < six", "five < six"},
	} {
		got := markup.Strip(c.in)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.in, got, c.want)
		}
		if len(got) != len(c.in) {
			t.Errorf("%q: %d bytes became %d", c.in, len(c.in), len(got))
		}
	}
}

// TestStripCode proves that blocks of code are noise in a generated text, closed or not.
func TestStripCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a ```x``` b": "a         b",
		"a ```x":      "a     ",
	} {
		if got := markup.StripCode(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestBullet proves what begins an item of a list.
func TestBullet(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"- a": "- ", "12)  a": "12)  ", "• a": "• ", "-a": "", "2026. a": "", "a - b": ""} {
		if got := markup.Bullet(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

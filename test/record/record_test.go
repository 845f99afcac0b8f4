package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

func TestScreen(t *testing.T) {
	// Proves what a screen shows of the sequences that the program writes, also when they come in pieces.
	t.Parallel()
	for _, tc := range []struct {
		name  string
		wrote []string
		want  string
	}{
		{"lines", []string{"a\r\nb\r\n"}, "a|b|"},
		{"a line drawn anew", []string{"10 of 20\r\x1b[K", "20 of 20"}, "20 of 20"},
		{"the rest of a line cleared", []string{"abcdef\rxy\x1b[K"}, "xy"},
		{"a full line goes on below", []string{"0123456789abc"}, "0123456789|abc"},
		{"bold", []string{"a\x1b[1mb\x1b[0mc"}, `a<tspan font-weight="bold">b</tspan>c`},
		{"a colour", []string{"\x1b[32mok\x1b[39m!"}, `<tspan fill="#6bc46d">ok</tspan>!`},
		{"a sequence in two pieces", []string{"a\x1b[", "1mb"}, `a<tspan font-weight="bold">b</tspan>`},
		{"a character in two pieces", []string{"\xe2\x96", "\x88"}, "█"},
		{"what it doesn't know", []string{"a\x1b[?25lb\x1b]c"}, "abc"},
		{"markup", []string{"<b> & c"}, "&lt;b&gt; &amp; c"},
	} {
		s := &screen{columns: 10}
		for _, text := range tc.wrote {
			s.write(text)
		}
		var got []string
		for _, line := range s.last(5) {
			got = append(got, draw(line))
		}
		if text := strings.Join(got, "|"); text != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, text, tc.want)
		}
	}
}

func TestFilm(t *testing.T) {
	// Proves that a film is well-formed, shows the last lines of a long output, and draws what changes fast only once.
	t.Parallel()
	f := newFilm(20, 3)
	for i := range 100 {
		f.show(string(rune('a'+i%26))+" & <tag>\r\n", time.Millisecond)
	}
	f.show("the end", time.Second)
	if len(f.frames) > 5 {
		t.Errorf("%d frames in 1.1 seconds", len(f.frames))
	}
	last := f.frames[len(f.frames)-1]
	if len(last.lines) != 3 || last.lines[2] != "the end" {
		t.Errorf("the last picture is %q", last.lines)
	}
	for in := xml.NewDecoder(strings.NewReader(f.svg())); ; {
		if _, err := in.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

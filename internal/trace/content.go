package trace

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"quarry/internal/clip"
)

// note is what stands behind a text that was cut, in place of so many bytes.
const note = "… [cut: %d bytes are left out]"

// noteRoom bounds the bytes of a note.
const noteRoom = 64

// Bound returns c with at most MaxContent bytes of texts, of which the longest are cut, and nil for no text.
func (c Content) Bound() *Content {
	texts := []*string{&c.Input, &c.Output, &c.Thinking, &c.Instructions, &c.Arguments, &c.Result, &c.Text}
	texts = slices.DeleteFunc(texts, func(s *string) bool { return *s == "" })
	if len(texts) == 0 {
		return nil
	}
	slices.SortStableFunc(texts, func(a, b *string) int { return len(*a) - len(*b) })
	left := MaxContent
	for i, s := range texts {
		*s = Cut(*s, left/(len(texts)-i))
		left -= len(*s)
	}
	return &c
}

// Size returns how many bytes of texts c has.
func (c *Content) Size() int {
	if c == nil {
		return 0
	}
	return len(c.Input) + len(c.Output) + len(c.Thinking) + len(c.Instructions) + len(c.Arguments) + len(c.Result) + len(c.Text)
}

// Plain returns c with U+FFFD in place of control characters and of what is no UTF-8.
func (c *Content) Plain() *Content {
	out := *c
	for _, s := range []*string{&out.Input, &out.Output, &out.Thinking, &out.Instructions, &out.Arguments, &out.Result, &out.Text} {
		*s = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
				return utf8.RuneError
			}
			return r
		}, strings.ToValidUTF8(*s, "\uFFFD"))
	}
	return &out
}

// Cut returns a text of at most so many bytes, which says how much of s it lacks.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	kept := clip.Head(s, most-noteRoom)
	var b strings.Builder
	b.WriteString(kept)
	fmt.Fprintf(&b, note, len(s)-len(kept))
	return b.String()
}

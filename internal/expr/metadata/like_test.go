package metadata

import (
	"math/rand/v2"
	"testing"
)

// plainly is the twin of pattern.matches: the definition of LIKE, without escapes, written down.
func plainly(pattern, s []rune) bool {
	if len(pattern) == 0 {
		return len(s) == 0
	}
	if pattern[0] == '%' {
		return plainly(pattern[1:], s) || len(s) > 0 && plainly(pattern, s[1:])
	}
	return len(s) > 0 && (pattern[0] == '_' || pattern[0] == s[0]) && plainly(pattern[1:], s[1:])
}

// TestLike proves that patterns match as their definition says, for many short ones.
func TestLike(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	some := func(of string, most int) string {
		letters, out := []rune(of), []rune{}
		for range r.IntN(most) {
			out = append(out, letters[r.IntN(len(letters))])
		}
		return string(out)
	}
	matched := 0
	for range 20_000 {
		text, like := some("aüb", 9), some("aüb%%_", 7)
		p, ok := parsePattern(like)
		got, want := p.matches(text), plainly([]rune(like), []rune(text))
		if !ok || got != want {
			t.Fatalf("%q LIKE %q is %v, want %v", text, like, got, want)
		}
		if got {
			matched++
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matched", matched)
	}
}

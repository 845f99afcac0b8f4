package fuzzy_test

import (
	"testing"

	"pgregory.net/rapid"

	"quarry/internal/text/fuzzy"
)

// TestDistance proves the distances of well-known pairs, including one that distinguishes unrestricted from restricted
// transpositions.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"abc", "abc", 0}, {"kitten", "sitting", 3}, {"plna", "plan", 1}, {"maintnance", "maintenance", 1},
		{"ca", "abc", 2}, {"a cat", "an abct", 3}, {"straße", "strasse", 2}, {"机器", "器机", 1}, {"abcd", "badc", 2}, {"abcdef", "fedcba", 5},
	} {
		if got := fuzzy.DistanceAgain(c.a, c.b, 9); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
		if got := fuzzy.DistanceAgain(c.b, c.a, 9); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

// edits returns every word over the letters a to c, up to a length, that one edit of w produces.
func edits(w string, most int) map[string]bool {
	out := map[string]bool{}
	for i := range len(w) + 1 {
		for _, c := range "abc" {
			if len(w) < most {
				out[w[:i]+string(c)+w[i:]] = true
			}
			if i < len(w) {
				out[w[:i]+string(c)+w[i+1:]] = true
			}
		}
		if i < len(w) {
			out[w[:i]+w[i+1:]] = true
		}
		if i+1 < len(w) {
			out[w[:i]+string(w[i+1])+string(w[i])+w[i+2:]] = true
		}
	}
	return out
}

// TestDistanceIsTheShortestWay proves that the distance is the least number of edits that turn one word into the other,
// found by exhaustive search, and that a bound changes only the distances above it.
func TestDistanceIsTheShortestWay(t *testing.T) {
	t.Parallel()
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 5, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		want := 0
		for reached := map[string]bool{a: true}; !reached[b]; want++ {
			next := map[string]bool{}
			for w := range reached {
				next[w] = true
				for x := range edits(w, 6) {
					next[x] = true
				}
			}
			reached = next
		}
		for most := range 6 {
			got := fuzzy.DistanceAgain(a, b, most)
			if want <= most && got != want || want > most && got <= most {
				t.Errorf("distance of %q and %q within %d is %d, want %d", a, b, most, got, want)
			}
		}
	})
}

// TestNearest proves that a mistyped name is recognised, and that one which is something else is not.
func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"docs", "notes", "Handbook", "a"}
	for mistyped, want := range map[string]string{
		"dcos": "docs", "doc": "docs", "DOCS": "docs", "handbok": "Handbook", "hnadbokc": "", "": "", "b": "", "zebra": "", "notes": "",
	} {
		if got := fuzzy.Nearest(mistyped, names); got != want {
			t.Errorf("%q: got %q, want %q", mistyped, got, want)
		}
	}
}

package retrieve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeywords proves what each operator does, and that the same characters elsewhere are plain text.
func TestKeywords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want keywords
	}{
		{"plain words", keywords{plain: "plain words"}},
		{`the "Red Pump" today`, keywords{plain: "the Red Pump today", phrases: [][]string{{"red", "pump"}}}},
		{"pump*", keywords{plain: "pump", prefixes: []string{"pump"}}},
		{"valve -Steam", keywords{plain: "valve", exclude: []string{"steam"}}},
		{"valve -ste*", keywords{plain: "valve", excludePrefixes: []string{"ste"}}},
		{"machine-learning now?", keywords{plain: "machine-learning now?"}},
		{"- dash * star", keywords{plain: "- dash * star"}},
		{`open "quote`, keywords{plain: `open "quote`}},
		{`empty "" quotes`, keywords{plain: `empty "" quotes`}},
		{"-only", keywords{exclude: []string{"only"}}},
		{"  ", keywords{}},
		{"a", keywords{plain: "a"}},
	} {
		got := parseKeywords(tc.text)
		if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(keywords{})); d != "" {
			t.Errorf("%q:\n%s", tc.text, d)
		}
	}
}

// FuzzKeywords proves that no query text makes the parser panic or loop.
func FuzzKeywords(f *testing.F) {
	for _, s := range []string{`a "b c" -d e* -f*`, `"`, `""""`, "-*", "\x00", "-\"x\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := parseKeywords(s)
		if len(k.plain) > len(s)+len(s) {
			t.Errorf("%q grew to %q", s, k.plain)
		}
	})
}

package retrieve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKeywords proves what each operator does, and that the same characters elsewhere are plain text.
func TestKeywords(t *testing.T) {
	t.Parallel()
	const none = "-"
	for _, tc := range []struct {
		text string
		want keywords
	}{
		{"plain words", keywords{plain: "plain words"}},
		{`the "Red Pump" today`, keywords{plain: "the Red Pump today", phrases: [][]string{{"red", "pump"}}}},
		{`"state-of-the-art" art`, keywords{plain: "state-of-the-art art", phrases: [][]string{{"state", "of", "the", "art"}}}},
		{`"机器学习"`, keywords{plain: "机器学习", phrases: [][]string{{"机器", "器学", "学习"}}}},
		{`"学"`, keywords{plain: "学", phrases: [][]string{{"学*"}}}},
		{`"A组"`, keywords{plain: "A组", phrases: [][]string{{"a", "组*"}}}},
		{`"oil filter"-every"day"* -x`, keywords{plain: `oil filter -every"day"*`, phrases: [][]string{{"oil", "filter"}}, exclude: [][]string{{"x"}}}},
		{"Pump* oil", keywords{plain: "Pump oil", scored: "oil", prefixes: []string{"pump"}}},
		{"machine-l*", keywords{plain: "machine-l", scored: none, prefixes: []string{"machine-l"}}},
		{"人工智*", keywords{plain: "人工智", prefixes: []string{"工智"}}},
		{"valve -Steam", keywords{plain: "valve", exclude: [][]string{{"steam"}}}},
		{"valve -machine-learning", keywords{plain: "valve", exclude: [][]string{{"machine-learning"}}}},
		{"valve -machine/learning", keywords{plain: "valve", exclude: [][]string{{"machine", "learning"}}}},
		{"机器 -人工智能", keywords{plain: "机器", exclude: [][]string{{"人工", "工智", "智能"}}}},
		{"机器 -学", keywords{plain: "机器", excludePrefixes: []string{"学"}}},
		{"机器 -人工智*", keywords{plain: "机器", exclude: [][]string{{"人工", "工智"}}}},
		{"valve -ste*", keywords{plain: "valve", excludePrefixes: []string{"ste"}}},
		{"valve -machine-l*", keywords{plain: "valve", excludePrefixes: []string{"machine-l"}}},
		{"machine-learning now?", keywords{plain: "machine-learning now?"}},
		{"- dash * star", keywords{plain: "- dash * star"}},
		{`open "quote`, keywords{plain: `open "quote`}},
		{`empty "" quotes`, keywords{plain: `empty "" quotes`}},
		{"-only", keywords{exclude: [][]string{{"only"}}}},
		{"  ", keywords{}},
		{"a", keywords{plain: "a"}},
	} {
		got := parseKeywords(tc.text)
		switch tc.want.scored {
		case "": // as the encoder's
			tc.want.scored = tc.want.plain
		case none:
			tc.want.scored = ""
		}
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

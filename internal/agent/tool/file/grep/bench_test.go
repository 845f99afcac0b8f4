package grep_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"quarry/internal/agent/tool/file/grep"
)

// text is 50 MiB of lines as a log has them.
func text() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"request", "session", "answered", "in", "milliseconds", "user", "retry", "cache", "miss", "warn", "grinder", "stone", "belt"}
	var b bytes.Buffer
	for n := 0; b.Len() < 50<<20; n++ {
		fmt.Fprintf(&b, "2026-11-%02dT%02d:%02d:%02d level=%s id=%d", 1+n%28, n%24, n%60, n%60, words[r.IntN(4)], r.Uint32())
		for range 3 + r.IntN(12) {
			b.WriteByte(' ')
			b.WriteString(words[r.IntN(len(words))])
		}
		if n%50_000 == 0 {
			b.WriteString(" Error: TIMEOUT of node-17")
		}
		b.WriteByte('\n')
	}
	return b.Bytes()[:50<<20]
}

func BenchmarkSearch(b *testing.B) {
	data := text()
	for _, c := range []struct {
		name, pattern string
		options       []string
	}{
		{"text", "TIMEOUT", nil}, {"context", "TIMEOUT", []string{"-n", "-C3"}}, {"either case", "timeout of node", []string{"-i"}},
		{"alternatives", "TIMEOUT|REFUSED|panic", nil}, {"expression", `Error: \w+ of node-\d+$`, []string{"-n"}},
		{"every line", "level=", []string{"-c"}}, {"none in it", `\d{3}-\d{4}`, []string{"-c"}}, {"words", `[a-z]+ing`, []string{"-c"}},
		{"address", `[\w.]+@[\w.]+`, nil}, {"last", "stone$", []string{"-c"}}, {"inverse", "level", []string{"-v"}}, {"two", "request.*cache.*belt", []string{"-ic"}},
		{"word", "cach", []string{"-w"}}, {"anything", ".*x.*", nil}, {"class", "[Tt]imeout", nil}, {"alternatives of all", "(foo|bar|baz).*(qux|quux)$", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			o, err := grep.ParseOptions(c.options)
			if err != nil {
				b.Fatal(err)
			}
			p, err := grep.Compile(c.pattern, o)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := p.Search(b.Context(), bytes.NewReader(data)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

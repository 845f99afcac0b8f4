package glossary_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/text/glossary"
)

// many returns a glossary of a hundred thousand terms of one to three words, and a text of 10 kB of which every tenth word begins one.
func many(latin bool) (all []glossary.Entry, text string) {
	r := rand.New(rand.NewPCG(1, 2))
	first, letters, joint := rune('a'), 26, " "
	if !latin {
		first, letters, joint = '一', 3000, ""
	}
	word := func() string {
		var b strings.Builder
		n := 2
		if latin {
			n = 3 + r.IntN(6)
		}
		for range n {
			b.WriteRune(first + rune(r.IntN(letters)))
		}
		return b.String()
	}
	for i := range 100_000 {
		term := word()
		for range r.IntN(3) {
			term += joint + word()
		}
		all = append(all, glossary.Entry{Term: term, Expansion: fmt.Sprintf("what the term %d stands for, in some words", i)})
	}
	var b strings.Builder
	for b.Len() < 10_000 {
		if r.IntN(10) == 0 {
			b.WriteString(all[r.IntN(len(all))].Term)
		} else {
			b.WriteString(word())
		}
		b.WriteString(joint)
	}
	return all, b.String()
}

// BenchmarkFind measures a text of 10 kB, with words and in a script without spaces.
func BenchmarkFind(b *testing.B) {
	for _, latin := range []bool{true, false} {
		all, text := many(latin)
		x := new(glossary.Index).With(all)
		b.Run(map[bool]string{true: "words", false: "han"}[latin], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			found := 0
			for b.Loop() {
				found = len(x.Find(text, 100))
			}
			b.ReportMetric(float64(found), "terms")
		})
	}
}

// BenchmarkFindTwisted measures a text of 10 kB that nearly has a long term at every place.
func BenchmarkFindTwisted(b *testing.B) {
	var all []glossary.Entry
	for n := range 100 {
		all = append(all, glossary.Entry{Term: strings.Repeat("a ", n+1)}, glossary.Entry{Term: strings.Repeat("a ", 90) + fmt.Sprint(n)})
	}
	x, text := new(glossary.Index).With(all), strings.Repeat("a ", 5000)
	for b.Loop() {
		x.Find(text, 100)
	}
}

// BenchmarkWith measures an index of a hundred thousand terms that is built anew, and one that gets a thousand more.
func BenchmarkWith(b *testing.B) {
	all, _ := many(true)
	x := new(glossary.Index).With(all)
	for _, n := range []int{len(all), 1000} {
		from := x
		if n == len(all) {
			from = new(glossary.Index)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				from.With(all[:n])
			}
		})
	}
	b.ReportMetric(float64(x.Size()), "bytes")
}

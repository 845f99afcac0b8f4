package builtin_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"quarry/internal/llm"
)

// BenchmarkSummarize measures the summary of a document of 10,000 sentences with vectors.
func BenchmarkSummarize(b *testing.B) {
	r := llm.Request{Summarize: true}
	words := strings.Fields("pump filter valve pressure hydraulic interval service oil gasket bearing torque manual safety electric motor shaft seal inspects weekly replaces")
	random := rand.New(rand.NewPCG(1, 2))
	var all strings.Builder
	for i := range 10_000 {
		e := llm.Evidence{Section: i / 20, Vector: make([]float32, 384)}
		e.Text = "The"
		for range 18 {
			e.Text += " " + words[random.IntN(len(words))]
		}
		e.Text += fmt.Sprintf(" %d.", i)
		for j := range e.Vector {
			e.Vector[j] = random.Float32() / 20
		}
		all.WriteString(e.Text + " ")
		r.Evidence = append(r.Evidence, e)
	}
	r.Messages = []llm.Message{llm.Text(llm.User, all.String())}
	for b.Loop() {
		complete(b, r)
	}
}

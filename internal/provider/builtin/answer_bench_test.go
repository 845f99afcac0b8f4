package builtin_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/cpu"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
	"quarry/internal/testkit"
)

// BenchmarkTenPassages measures an answer from ten passages of about 700 characters by a generator that has kept nothing, with the
// instructions of AVX2. With GOMAXPROCS=1 the median (p50-ms) is that of one core.
func BenchmarkTenPassages(b *testing.B) {
	if err := cpu.Use("avx2"); err != nil {
		testkit.Skip(b, err.Error())
	}
	words := strings.Fields("pump filter valve pressure hydraulic interval service oil gasket bearing torque manual safety electric motor shaft seal inspects weekly replaces")
	random := rand.New(rand.NewPCG(1, 2))
	encoders, err := registry()
	if err != nil {
		b.Fatal(err)
	}
	request := llm.Request{Question: "How often does the service replace the seal of the hydraulic pump?"}
	for i := range 10 {
		var text strings.Builder
		for j := range 7 {
			text.WriteString("The")
			for range 13 {
				text.WriteString(" " + words[random.IntN(len(words))])
			}
			fmt.Fprintf(&text, " every %d hours. ", 10*i+j)
		}
		request.Evidence = append(request.Evidence, llm.Evidence{N: i + 1, Score: 1 / float64(1+i), Text: strings.TrimSpace(text.String())})
	}
	var times []time.Duration
	for b.Loop() {
		begun := time.Now()
		answer, err := llm.Complete(b.Context(), builtin.New(encoders), request)
		if err != nil || llm.IsNoAnswer(answer.Text) {
			b.Fatal(answer.Text, err)
		}
		times = append(times, time.Since(begun))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*95/100].Microseconds())/1000, "p95-ms")
}

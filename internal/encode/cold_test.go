package encode_test

import (
	"slices"
	"testing"
	"time"
)

// BenchmarkCold times a question of 12 words whose weights other work has pushed out of the caches, as in a service, and the same
// question right behind it.
func BenchmarkCold(b *testing.B) {
	e := builtin(b)
	out, other := make([]float32, e.Dim()), make([]byte, 192<<20)
	encode := func() time.Duration {
		began := time.Now()
		if err := e.Encode("how does the kernel schedule a thread that waits for an event", false, out); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var cold, warm []time.Duration
	for b.Loop() {
		for i := 0; i < len(other); i += 64 { // a line of the cache each
			other[i]++
		}
		cold, warm = append(cold, encode()), append(warm, encode())
	}
	median := func(all []time.Duration) float64 {
		slices.Sort(all)
		return float64(all[len(all)/2].Microseconds())
	}
	b.ReportMetric(median(cold), "cold-µs")
	b.ReportMetric(median(warm), "warm-µs")
}

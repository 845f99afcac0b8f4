package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"quarry/internal/embed"
	"quarry/internal/llm"
	"quarry/internal/provider/builtin"
)

// time measures an answer on one core without any caches: with a new generator and an encoder without a cache.
func (b *bench) time(ctx context.Context, r llm.Request) error {
	bare, err := plain()
	if err != nil {
		return err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, into := range []*times{&b.stored, &b.bare} {
		p := builtin.New(bare)
		began, used := time.Now(), cpuSeconds()
		if _, err := llm.Complete(ctx, p, r); err != nil {
			return err
		}
		into.wall = append(into.wall, float64(time.Since(began).Microseconds())/1000)
		into.processor = append(into.processor, 1000*(cpuSeconds()-used))
		r.Evidence = slices.Clone(r.Evidence)
		for i := range r.Evidence {
			r.Evidence[i].Vector = nil
		}
	}
	return nil
}

var bareEncoders *embed.Registry

// plain returns the encoders without a cache.
func plain() (r *embed.Registry, err error) {
	if bareEncoders == nil {
		bareEncoders, err = embed.NewRegistry()
	}
	return bareEncoders, err
}

func (b *bench) print(name string) {
	spans, printed := "–", "–"
	n := b.questions
	if b.spans {
		spans = fmt.Sprintf("%.3f / %.3f / %.3f", b.hits[0]/n, b.hits[1]/n, b.hits[2]/n)
		printed = fmt.Sprintf("%.3f", b.printed/n)
	}
	fmt.Printf("| %s | %.0f | %s | %s | %.3f | %.2f | %.3f | %.3f | %d | %s | %s |\n", name, n, spans, printed, b.right/n, b.sentences/max(1, b.answered),
		b.noneWrong/n, b.noneRight/n, b.unsupported, b.stored, b.bare)
}

// times are in milliseconds, of the clock and of the processor, which are about the same if nothing else runs.
type times struct{ wall, processor []float64 }

func (t times) String() string {
	if len(t.wall) == 0 {
		return "–"
	}
	slices.Sort(t.wall)
	slices.Sort(t.processor)
	at := func(ms []float64, share int) float64 { return ms[len(ms)*share/100] }
	return fmt.Sprintf("%.0f / %.0f (%.0f / %.0f)", at(t.processor, 50), at(t.processor, 95), at(t.wall, 50), at(t.wall, 95))
}

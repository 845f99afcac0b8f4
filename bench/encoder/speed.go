package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"quarry/internal/background"
	"quarry/internal/cpu"
	"quarry/internal/embed"
	"quarry/internal/encode/kernel"
)

// engine is an implementation of the encoder. run encodes a sequence repeatedly and returns the time of each run in
// seconds, and the vector.
type engine struct {
	name string
	slow bool
	run  func(ids []int32, repeat int) (times []float64, vector []float32, err error)
}

// ours returns our encoder on a kernel path.
func (b *bench) ours(path string) engine {
	return engine{path, path == "portable", func(ids []int32, repeat int) ([]float64, []float32, error) {
		use(path)
		times, out := make([]float64, repeat), make([]float32, b.enc.Dim())
		for i := range times {
			start := time.Now()
			if err := b.enc.EncodeTokens(ids, out); err != nil {
				return nil, nil, err
			}
			times[i] = time.Since(start).Seconds()
		}
		return times, out, nil
	}}
}

// speed compares all engines on one core. In each round every engine encodes the same sequence. The time of an engine in a
// round is the median of its runs, and ratios are taken within a round, so that noise that slows a whole round cancels.
func (b *bench) speed() error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer use("auto")
	var engines []engine
	for _, p := range cpu.Available() {
		engines = append(engines, b.ours(p.String()))
	}
	rt, err := b.startONNX()
	if err != nil {
		fmt.Println(err)
	} else {
		defer rt.stop()
		engines = append(engines, rt.engine("fp32"), rt.engine("int8"))
	}
	ours := len(cpu.Available())
	if err := b.agree(engines[ours-1], engines[ours:]); err != nil {
		return err
	}
	fmt.Println("\n| one core | 128 tokens/s | 12-token p50, ms | speed ÷ ONNX Runtime fp32, 128 tokens | time ÷ ONNX Runtime fp32, 12 tokens |\n|---|---|---|---|---|")
	long, err := b.perRound(engines, b.long, 4)
	if err != nil {
		return err
	}
	short, err := b.perRound(engines, b.short, 30)
	if err != nil {
		return err
	}
	for i, e := range engines {
		fmt.Printf("| %s | %.1f | %.2f |", e.name, 1/median(long[i]), 1000*median(short[i]))
		if j := slices.IndexFunc(engines, func(e engine) bool { return e.name == onnxPrefix+"fp32" }); j >= 0 {
			fmt.Printf(" %.2f | %.2f |", ratio(long[j], long[i]), ratio(short[i], short[j]))
		}
		fmt.Println()
	}
	return nil
}

// perRound returns the time of each engine in each round, in seconds. A slow engine runs only in every fifth round, with few
// repetitions; in the other rounds its last time is used.
func (b *bench) perRound(engines []engine, sequences [][]int32, repeat int) ([][]float64, error) {
	times := make([][]float64, len(engines))
	for round := range b.rounds {
		ids := sequences[round%len(sequences)]
		for i, e := range engines {
			n := repeat
			if e.slow {
				if n = 2; round%5 != 0 {
					times[i] = append(times[i], times[i][len(times[i])-1])
					continue
				}
			}
			t, _, err := e.run(ids, n)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], median(t))
		}
	}
	return times, nil
}

// ratio returns the median over the rounds of a ÷ b.
func ratio(a, b []float64) float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return median(r)
}

// agree prints the least cosine between our vectors and those of others. A comparison of speed is only meaningful if they
// compute the same.
func (b *bench) agree(ours engine, others []engine) error {
	texts := b.long[:min(20, len(b.long))]
	for _, e := range others {
		least := 1.0
		for _, ids := range texts {
			_, want, err := ours.run(ids, 1)
			if err != nil {
				return err
			}
			_, got, err := e.run(ids, 1)
			if err != nil {
				return err
			}
			least = min(least, float64(kernel.Dot(want, got)))
		}
		fmt.Printf("vectors of %s against %s, %d passages: least cosine %.5f\n", ours.name, e.name, len(texts), least)
	}
	return nil
}

// scaling compares the speed of bulk encoding on one core and on all.
func (b *bench) scaling() error {
	cores := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	texts := make([]string, 0, 64)
	for _, t := range b.texts {
		if n := len(b.enc.Tokens(t)); n > 100 && n < 200 && len(texts) < cap(texts) {
			texts = append(texts, t)
		}
	}
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, b.enc.Dim())
	}
	var gains, one, all, cost []float64
	for range b.rounds {
		var took, cpu [2]float64
		for i, procs := range []int{1, cores} {
			runtime.GOMAXPROCS(procs)
			e := embed.NewLocal("bench", b.enc, background.NewPool())
			start, before := time.Now(), cpuSeconds()
			if err := e.Encode(context.Background(), embed.Passage, texts, out); err != nil {
				return err
			}
			took[i], cpu[i] = time.Since(start).Seconds(), cpuSeconds()-before
		}
		gains, one, all = append(gains, took[0]/took[1]), append(one, took[0]), append(all, took[1])
		cost = append(cost, cpu[1]/cpu[0])
	}
	fmt.Printf("\n%d cores encode at %.2f× the rate of one (median of %d rounds of %d passages); quickest round against quickest %.2f×; processor time per passage %.3f× that on one core\n",
		cores, median(gains), b.rounds, len(texts), slices.Min(one)/slices.Min(all), median(cost))
	return nil
}

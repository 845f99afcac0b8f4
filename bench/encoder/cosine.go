package main

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"quarry/internal/cpu"
	"quarry/internal/encode"
	"quarry/internal/encode/kernel"
)

// cosine prints the cosine similarity of the vectors of every kernel path to those of the float32 model and of the best
// path.
func (b *bench) cosine() error {
	defer use("auto")
	paths := cpu.Available()
	slices.Reverse(paths)
	use(paths[0].String())
	best, err := vectors(b.enc, b.texts)
	if err != nil {
		return err
	}
	reference, err := b.reference()
	if err != nil {
		return err
	}
	fmt.Printf("\n| path | passages | to float32: least | p1 | median | to %s: least |\n|---|---|---|---|---|---|\n", paths[0])
	for i, p := range paths {
		n := len(b.texts)
		if p == cpu.Portable {
			n = min(n, b.slow)
		}
		if n == 0 {
			continue
		}
		want, float := spread(best, n), spread(reference, n)
		got := want
		if use(p.String()); i > 0 {
			if got, err = vectors(b.enc, spread(b.texts, n)); err != nil {
				return err
			}
		}
		fmt.Printf("| %s | %d |", p, n)
		if reference == nil {
			fmt.Print(" – | – | – |")
		} else {
			c := cosines(got, float)
			fmt.Printf(" %.4f | %.4f | %.4f |", c[0], c[len(c)/100], c[len(c)/2])
		}
		fmt.Printf(" %.6f |\n", cosines(got, want)[0])
	}
	return nil
}

// reference returns the vectors of the float32 model, or nil if there is no checkpoint.
func (b *bench) reference() ([][]float32, error) {
	if b.checkpoint == "" {
		fmt.Println("\nskipped: cosines to float32, QUARRY_CHECKPOINT does not name the checkpoint folder")
		return nil, nil
	}
	f, err := encode.OpenFolder(b.checkpoint, encode.F32)
	if err != nil {
		return nil, err
	}
	return vectors(f, b.texts)
}

// spread returns an even sample of at most n of all.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// cosines returns the cosines between unit vectors in ascending order.
func cosines(a, b [][]float32) []float64 {
	c := make([]float64, len(a))
	for i := range a {
		c[i] = float64(kernel.Dot(a[i], b[i]))
	}
	slices.Sort(c)
	return c
}

func vectors(e *encode.Encoder, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(texts)); i = next.Add(1) - 1 {
				out[i] = make([]float32, e.Dim())
				if err := e.Encode(texts[i], true, out[i]); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return out, nil
}

package main

import (
	"cmp"
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"quarry/bench/service"
	"quarry/internal/extract/samplefile"
)

// load indexes files of every kind, as many at once as there are processors and twice, and measures memory and queries meanwhile.
func load(binary string, files int) error {
	runtime.GOMAXPROCS(8) // so that a query's answer is taken at once, whatever sends files
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(binary, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "files"}); err != nil {
		return err
	}
	if err := send(p, "first", 500); err != nil {
		return err
	}
	before, err := queries(p, 300, nil)
	if err != nil {
		return err
	}
	var memory peak
	done := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() { memory.watch(p, done) })
	var busy []time.Duration
	var failed error
	beside.Go(func() { busy, failed = queries(p, 0, done) })
	began := time.Now()
	err = send(p, "then", files)
	took := time.Since(began)
	close(done)
	beside.Wait()
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	after, err := queries(p, 300, nil)
	if err != nil {
		return err
	}
	idle := append(before, after...) // meanwhile there are as many documents as between the two
	i, b := p95(idle), p95(busy)
	fmt.Printf("| what | measured | bar |\n|---|---|---|\n")
	fmt.Printf("| %d files of %d kinds, %d processors | %s, %.0f files/s | |\n", files, len(samplefile.Kinds), runtime.NumCPU(), took.Round(time.Second), float64(files)/took.Seconds())
	fmt.Printf("| most memory: service, its readers, together | %d, %d, %d MB | |\n", memory.service>>20, memory.readers>>20, memory.all>>20)
	fmt.Printf("| query, 95 %% take less than: idle (before %.1f, after %.1f), meanwhile | %.1f, %.1f ms: %.2f (%d, %d queries) | ≤ 2 |\n", ms(p95(before)), ms(p95(after)),
		ms(i), ms(b), b.Seconds()/i.Seconds(), len(idle), len(busy))
	return nil
}

func p95(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)*95/100]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// send uploads n files, twice as many at once as there are processors.
func send(p *service.Process, name string, n int) error {
	var next atomic.Int64
	errs := make(chan error, 2*runtime.NumCPU())
	for range cap(errs) {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					errs <- nil
					return
				}
				kind := samplefile.Kinds[i%len(samplefile.Kinds)]
				data := samplefile.New(kind, fmt.Sprintf("Valve %s %d of the northern line opens at three bar, unless the pump behind it stands still.", name, i),
					fmt.Sprintf("Its seal, of rubber, is changed every %d months, by two people who note it in the book of the station.", i%31))
				status, answer, err := upload(p, fmt.Sprintf("%s-%d.%s", name, i, kind), data, false)
				if err == nil && status != http.StatusCreated {
					err = fmt.Errorf("%s: %d %.200s", kind, status, answer)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

// queries asks n times, or until done, ten times a second, and returns how long each took.
func queries(p *service.Process, n int, done <-chan struct{}) (all []time.Duration, err error) {
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for i := 0; done != nil || i < n; i++ {
		began := time.Now()
		_, err := p.Must(http.StatusOK, "POST", "/v2/corpora/files/query", map[string]any{"query": fmt.Sprintf("when does valve %d open?", i), "search": map[string]any{"limit": 10}})
		if err != nil {
			return all, err
		}
		all = append(all, time.Since(began))
		select {
		case <-ticks.C:
		case <-done:
			return all, nil
		}
	}
	return all, nil
}

// peak is the most memory that was held.
type peak struct{ service, readers, all int64 }

func (m *peak) watch(p *service.Process, done <-chan struct{}) {
	ticks := time.NewTicker(50 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
		}
		own, readers := p.Resident(), int64(0)
		for _, c := range p.Children() {
			readers += c.Resident()
		}
		m.service, m.readers, m.all = max(m.service, own), max(m.readers, readers), max(m.all, own+readers)
	}
}

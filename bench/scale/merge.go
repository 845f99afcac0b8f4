package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"quarry/bench/scale/table"
	"quarry/bench/service"
)

const (
	writesASecond = 20
	// unknownMerge is how long is measured where the program does not tell what its index does.
	unknownMerge = time.Minute
)

// writes is what writing beside queries took, and the ids of what was written.
type writes struct {
	seconds []float64
	ids     []string
	err     error
}

// merge measures queries while the segments of a new index are merged and documents are written, beside queries of the
// same index at rest.
func (b *bench) merge() error {
	dir, err := b.load()
	if err != nil {
		return err
	}
	questions := b.short()
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		return err
	}
	p, err := service.Start(b.binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := query(p, allKey, questions[0], nil); err != nil { // which rebuilds the index
		return err
	}
	state, err := indexState(p, allKey)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var wait sync.WaitGroup
	var written writes
	began := time.Now()
	wait.Go(func() { written = write(ctx, p, questions) })
	busy, err := b.askUntil(p, questions, func() (bool, error) {
		now, err := indexState(p, allKey)
		return now == "resting" || now == "" && time.Since(began) > unknownMerge, err
	})
	stop()
	wait.Wait()
	if err == nil {
		err = written.err
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if err := b.rest(p, allKey); err != nil {
		return err
	}
	idle, err := b.askUntil(p, questions, func() (bool, error) { return true, nil })
	if err != nil {
		return err
	}
	if state == "" {
		fmt.Println("\nthe program does not tell when its index is merged: these are queries beside writes, for a minute")
	}
	table.Head("what", "queries", "p50", "p95", "p99", "most")
	for name, times := range map[string][]float64{fmt.Sprintf("at first %s, for %v", state, took.Round(time.Second)): busy, "idle": idle, "writes": written.seconds} {
		table.Row(name, len(times), table.Milliseconds(table.Median(times)), table.Milliseconds(table.Quantile(times, 0.95)), table.Milliseconds(table.Quantile(times, 0.99)), table.Milliseconds(table.Quantile(times, 1)))
	}
	fmt.Printf("\np95 ÷ idle: %.2f (bar 2)\n", table.Quantile(busy, 0.95)/table.Quantile(idle, 0.95))
	for _, id := range written.ids { // the folder is kept, as it was
		if _, err := p.Must(http.StatusNoContent, "DELETE", "/v2/corpora/"+allKey+"/documents/"+url.PathEscape(id), nil); err != nil {
			return err
		}
	}
	return nil
}

// askUntil asks the questions over and over until enough reports true at the end of a hundred.
func (b *bench) askUntil(p *service.Process, questions []string, enough func() (bool, error)) (times []float64, err error) {
	for done := false; !done; {
		for i := range 100 {
			if err := b.ctx.Err(); err != nil {
				return times, err
			}
			took, err := query(p, allKey, questions[(len(times)+i)%len(questions)], nil)
			if err != nil {
				return times, err
			}
			times = append(times, took)
		}
		if done, err = enough(); err != nil {
			return times, err
		}
		done = done && len(times) >= min(2000, 2*len(questions))
	}
	return times, nil
}

// write writes documents of one passage, twenty a second if the service keeps up, until ctx ends. Their ids are new in
// every run.
func write(ctx context.Context, p *service.Process, texts []string) (out writes) {
	tick := time.NewTicker(time.Second / writesASecond)
	defer tick.Stop()
	run := time.Now().UnixNano()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return out
		case <-tick.C:
		}
		id := fmt.Sprintf("new-%d-%d", run, i)
		out.ids = append(out.ids, id)
		began := time.Now()
		_, out.err = p.Must(http.StatusCreated, "POST", "/v2/corpora/"+allKey+"/documents", map[string]any{"type": "core",
			"id": id, "metadata": map[string]any{"share": "new"},
			"document_parts": []any{map[string]any{"text": fmt.Sprintf("%s %d", texts[i%len(texts)], i)}}})
		out.seconds = append(out.seconds, time.Since(began).Seconds())
		if out.err != nil {
			return out
		}
	}
}

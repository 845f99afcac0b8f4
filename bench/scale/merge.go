package main

import (
	"context"
	"errors"
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

// merge measures queries while all passages are merged into one segment and documents are written, beside queries of the
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
	p, err := b.serve(dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := query(p, allKey, questions[0], nil); err != nil { // which rebuilds the index
		return err
	}
	// What was just filled is merged into one segment at once: until then every vector is scanned. With what is written
	// meanwhile it is merged again as soon as it has rested.
	filled, err := b.beside(p, questions)
	if err != nil {
		return err
	}
	if err := b.merging(p); err != nil {
		return err
	}
	again, err := b.beside(p, questions)
	if err != nil {
		return err
	}
	if err := b.forget(p, append(filled.ids, again.ids...)); err != nil { // the folder is kept, as it was
		return err
	}
	if _, err := b.rest(p, allKey); err != nil {
		return err
	}
	hundreds := 0
	idle, err := b.askUntil(p, questions, func() (bool, error) {
		hundreds++
		return hundreds == 20, nil
	})
	if err != nil {
		return err
	}
	table.Head("what", "queries", "p50", "p95", "p99", "most")
	times := func(name string, of []float64) {
		table.Row(name, len(of), table.Milliseconds(table.Median(of)), table.Milliseconds(table.Quantile(of, 0.95)), table.Milliseconds(table.Quantile(of, 0.99)), table.Milliseconds(table.Quantile(of, 1)))
	}
	times("idle", idle)
	for _, m := range []struct {
		name string
		meanwhile
	}{{"what was filled is merged", filled}, {"all is merged again", again}} {
		times(fmt.Sprintf("while %s, %v", m.name, m.took.Round(time.Second)), m.asked)
		times("writes meanwhile", m.seconds)
		fmt.Printf("\np95 ÷ idle: %.2f (bar 2); most anonymous memory %s\n\n", table.Quantile(m.asked, 0.95)/table.Quantile(idle, 0.95), table.Megabytes(m.anonymous))
	}
	return nil
}

// meanwhile is what happened while an index was merged.
type meanwhile struct {
	asked     []float64
	took      time.Duration
	anonymous int64 // most memory, as seen once in a hundred queries
	writes
}

// merging waits for the merge that comes after a rest.
func (b *bench) merging(p *service.Process) error {
	for range 10 * 60 * 10 {
		now, err := indexState(p, allKey)
		if err != nil || now.State == "merging" {
			return err
		}
		if err := b.ctx.Err(); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("an index with rows of its own in memory was not merged at rest")
}

// beside asks and writes while merges run.
func (b *bench) beside(p *service.Process, questions []string) (out meanwhile, err error) {
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var group sync.WaitGroup
	began := time.Now()
	group.Go(func() { out.writes = write(ctx, p, questions) })
	out.asked, err = b.askUntil(p, questions, func() (bool, error) {
		out.anonymous = max(out.anonymous, p.Anonymous())
		now, err := indexState(p, allKey)
		return now.State == "resting" || !now.known && time.Since(began) > unknownMerge, err
	})
	stop()
	group.Wait()
	out.took = time.Since(began)
	return out, errors.Join(err, out.writes.err)
}

// forget deletes documents.
func (b *bench) forget(p *service.Process, ids []string) error {
	for _, id := range ids {
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

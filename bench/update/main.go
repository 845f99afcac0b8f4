// Command update measures queries of the running program before, during and after a job that changes the metadata of every
// document of the corpus, and the duration of the job. It needs a built binary. The results are for docs/benchmarks.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"quarry/bench/service"
	"quarry/internal/query/measure"
)

type settings struct {
	binary, dir                  string
	documents, queries, parallel int
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "./quarry", "the program")
	flag.StringVar(&s.dir, "dir", "", "data folder, which may hold the corpus of a previous run; default: a temporary one")
	flag.IntVar(&s.documents, "documents", 100_000, "documents of the corpus")
	flag.IntVar(&s.queries, "queries", 500, "queries to time before and after the job")
	flag.IntVar(&s.parallel, "parallel", 4, "documents added at the same time")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "update:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	dir, remove, err := service.Folder(s.dir)
	if err != nil {
		return err
	}
	defer remove()
	s.dir = dir
	if err := fill(s); err != nil {
		return err
	}
	p, err := service.Start(s.binary, s.dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := ask(p, 0, s.queries/5); err != nil { // warm-up: opens the index, fills caches
		return err
	}
	before, err := ask(p, 0, s.queries)
	if err != nil {
		return err
	}
	meanwhile, took, comment, err := askDuringUpdate(p, s)
	if err != nil {
		return err
	}
	memory := p.Resident()
	after, err := ask(p, 0, s.queries)
	if err != nil {
		return err
	}
	idle := append(slices.Clone(before), after...)
	fmt.Printf("| what | measured | bar |\n|---|---|---|\n")
	fmt.Printf("| query idle, before / after: p50, p95 | %s / %s | |\n", percentiles(before), percentiles(after))
	fmt.Printf("| query while %d documents change: p50, p95 (%d queries) | %s | |\n", s.documents, len(meanwhile), percentiles(meanwhile))
	fmt.Printf("| p95 meanwhile ÷ idle | %.2f | ≤ 2 |\n", float64(measure.Percentile(meanwhile, 0.95))/float64(measure.Percentile(sorted(idle), 0.95)))
	fmt.Printf("| the job | %v, %.0f documents/s (%s) | |\n", took.Round(time.Millisecond), float64(s.documents)/took.Seconds(), comment)
	fmt.Printf("| VmRSS after it | %d MB | |\n", memory>>20)
	return nil
}

func sorted(all []time.Duration) []time.Duration {
	slices.Sort(all)
	return all
}

func percentiles(all []time.Duration) string {
	sorted(all)
	return fmt.Sprintf("%v, %v", measure.Percentile(all, 0.5).Round(100*time.Microsecond), measure.Percentile(all, 0.95).Round(100*time.Microsecond))
}

// ask returns the times of n queries, sent one after another.
func ask(p *service.Process, from, n int) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for i := from; i < from+n; i++ {
		began := time.Now()
		_, err := p.Must(http.StatusOK, "POST", "/v2/corpora/many/query", map[string]any{
			"query": sentence(i * 7919), "search": map[string]any{"limit": 10, "metadata_filter": "doc.year >= 0"},
		})
		times = append(times, time.Since(began))
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// askDuringUpdate starts the job and times queries until it has ended. comment is the job's own.
func askDuringUpdate(p *service.Process, s settings) (times []time.Duration, took time.Duration, comment string, err error) {
	began := time.Now()
	raw, err := p.Must(http.StatusAccepted, "PATCH", "/v2/corpora/many/documents?metadata_filter=doc.year%20%3E%3D%200",
		map[string]any{"metadata": map[string]any{"year": began.Unix(), "checked": began.Format(time.RFC3339)}})
	if err != nil {
		return nil, 0, "", err
	}
	var job struct {
		ID string `json:"job_id"`
	}
	if err := json.Unmarshal(raw, &job); err != nil {
		return nil, 0, "", err
	}
	var done atomic.Bool
	failed := make(chan error, 1)
	go func() {
		defer done.Store(true)
		var err error
		comment, err = wait(p, job.ID)
		took = time.Since(began)
		failed <- err
	}()
	for i := 0; !done.Load() && err == nil; i += 10 {
		var some []time.Duration
		some, err = ask(p, i, 10)
		times = append(times, some...)
	}
	return times, took, comment, errors.Join(err, <-failed)
}

// wait polls a job until it has ended. Any state but completed is an error.
func wait(p *service.Process, id string) (comment string, err error) {
	for {
		raw, err := p.Must(http.StatusOK, "GET", "/v2/jobs/"+id, nil)
		if err != nil {
			return "", err
		}
		var job struct{ State, Comment string }
		if err := json.Unmarshal(raw, &job); err != nil {
			return "", err
		}
		switch job.State {
		case "completed":
			return job.Comment, nil
		case "failed", "aborted":
			return "", fmt.Errorf("job %s is %s: %s", id, job.State, job.Comment)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// fill adds the documents that are missing from the corpus, through the HTTP interface.
func fill(s settings) error {
	p, err := service.Start(s.binary, s.dir)
	if err != nil {
		return err
	}
	defer p.Stop() // flushes the index from memory
	have, err := count(p)
	if err != nil || have >= s.documents {
		return err
	}
	began := time.Now()
	work, failed := make(chan int), make(chan error, s.parallel)
	for range s.parallel {
		go func() {
			var err error
			for i := range work {
				if err == nil {
					err = one(p, i)
				}
			}
			failed <- err
		}()
	}
	for i := max(0, have-s.parallel); i < s.documents; i++ {
		work <- i
		if i%500 == 0 {
			fmt.Fprintf(os.Stderr, "\r%d of %d documents, %v   ", i, s.documents, time.Since(began).Round(time.Second))
		}
	}
	close(work)
	for range s.parallel {
		err = errors.Join(err, <-failed)
	}
	fmt.Fprintln(os.Stderr)
	return err
}

// count returns the number of documents in the corpus, which it creates if necessary.
func count(p *service.Process) (int, error) {
	status, raw, err := p.Call("GET", "/v2/corpora/many", nil)
	if err != nil {
		return 0, err
	}
	if status == http.StatusNotFound {
		_, err := p.Must(http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "many", "filter_attributes": []any{
			map[string]any{"name": "year", "level": "document", "type": "integer"},
			map[string]any{"name": "topic", "level": "document", "type": "text"},
		}})
		return 0, err
	}
	var c struct {
		Limits struct {
			Docs int `json:"used_docs"`
		}
	}
	return c.Limits.Docs, json.Unmarshal(raw, &c)
}

// one adds a document, unless it exists already.
func one(p *service.Process, i int) error {
	status, raw, err := p.Call("POST", "/v2/corpora/many/documents", map[string]any{
		"type": "core", "id": fmt.Sprintf("d%d", i), "metadata": map[string]any{"year": i % 30, "topic": fmt.Sprintf("t%d", i%97)},
		"document_parts": []any{map[string]any{"text": sentence(i)}},
	})
	if err == nil && status != http.StatusCreated && status != http.StatusConflict {
		err = fmt.Errorf("document %d: %d %.300s", i, status, raw)
	}
	return err
}

// sentence returns the text of document i.
func sentence(i int) string {
	who := []string{"the harbour master", "a lantern maker", "the orchard", "our baker", "the clockmaker", "an engineer", "the glacier guide", "a courier"}
	does := []string{"keeps", "remembers", "crosses", "repairs", "measures", "hides", "follows", "sells", "paints"}
	what := []string{"seven maps", "the quiet river", "a letter from the north", "its own shadow", "the price of salt", "three broken wheels", "old coins"}
	return fmt.Sprintf("Note %d: %s %s %s.", i%1009, who[i%len(who)], does[i/8%len(does)], what[i/72%len(what)])
}

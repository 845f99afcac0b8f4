// Command corpora measures the running program with very many small corpora: how long it takes to start, how much memory it
// uses, and how long the first query of a corpus takes. It needs a built binary. The results are for docs/benchmarks.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"quarry/bench/service"
	"quarry/internal/query/measure"
)

type settings struct {
	binary, dir                           string
	corpora, documents, queries, parallel int
	seed                                  uint64
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "./quarry", "the program")
	flag.StringVar(&s.dir, "dir", "", "data folder, which may hold the corpora of a previous run; default: a temporary one")
	flag.IntVar(&s.corpora, "corpora", 10_000, "number of corpora")
	flag.IntVar(&s.documents, "documents", 10, "documents in each")
	flag.IntVar(&s.queries, "queries", 1000, "first queries to time, each of another corpus")
	flag.IntVar(&s.parallel, "parallel", 8, "corpora created at the same time")
	flag.Uint64Var(&s.seed, "seed", 1, "seed for the choice of the corpora that are queried")
	flag.Parse()
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "corpora:", err)
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
	atStart := p.Resident()
	first, again, err := ask(p, s)
	if err != nil {
		return err
	}
	fmt.Printf("| what | measured | bar |\n|---|---|---|\n")
	fmt.Printf("| start of %d corpora of %d documents, to the first answer | %v | ≤ 5 s |\n", s.corpora, s.documents, p.Took.Round(time.Millisecond))
	fmt.Printf("| VmRSS after the start | %d MB | ≤ 400 MB |\n", atStart>>20)
	fmt.Printf("| VmRSS after queries of %d corpora | %d MB | ≤ 400 MB |\n", len(first), p.Resident()>>20)
	fmt.Printf("| first query of a random corpus, p50 / p99 | %s | p50 ≤ 20 ms |\n", percentiles(first))
	fmt.Printf("| second query of the same, p50 / p99 | %s | |\n", percentiles(again))
	return nil
}

func percentiles(all []time.Duration) string {
	slices.Sort(all)
	return fmt.Sprintf("%v / %v", measure.Percentile(all, 0.5).Round(100*time.Microsecond), measure.Percentile(all, 0.99).Round(100*time.Microsecond))
}

// ask times two queries of each of many corpora, in random order.
func ask(p *service.Process, s settings) (first, again []time.Duration, err error) {
	random := rand.New(rand.NewPCG(s.seed, 0))
	for _, n := range random.Perm(s.corpora)[:min(s.queries, s.corpora)] {
		for _, times := range []*[]time.Duration{&first, &again} {
			began := time.Now()
			raw, err := p.Must(http.StatusOK, "POST", "/v2/corpora/"+key(n)+"/query",
				map[string]any{"query": sentence(n, 3), "search": map[string]any{"limit": 10}})
			*times = append(*times, time.Since(began))
			if err != nil {
				return nil, nil, err
			}
			if !strings.Contains(string(raw), `"document_id":"d3"`) {
				return nil, nil, fmt.Errorf("corpus %s does not find its document: %.300s", key(n), raw)
			}
		}
	}
	return first, again, nil
}

// fill creates the corpora that are missing, through the HTTP interface.
func fill(s settings) error {
	p, err := service.Start(s.binary, s.dir)
	if err != nil {
		return err
	}
	defer p.Stop() // flushes the index from memory
	if _, have, err := p.Call("GET", "/v2/corpora/"+key(s.corpora-1), nil); err != nil || documents(have) == s.documents {
		return err
	}
	began := time.Now()
	work, failed := make(chan int), make(chan error, s.parallel)
	var done atomic.Int64
	for range s.parallel {
		go func() {
			var err error
			for n := range work {
				if err == nil {
					err = one(p, s, n)
				}
				done.Add(1)
			}
			failed <- err
		}()
	}
	for n := range s.corpora {
		work <- n
		if n%100 == 0 {
			fmt.Fprintf(os.Stderr, "\r%d of %d corpora, %v   ", done.Load(), s.corpora, time.Since(began).Round(time.Second))
		}
	}
	close(work)
	for range s.parallel {
		err = errors.Join(err, <-failed)
	}
	fmt.Fprintln(os.Stderr)
	return err
}

func documents(corpus []byte) int {
	var c struct {
		Limits struct {
			Docs int `json:"used_docs"`
		}
	}
	_ = json.Unmarshal(corpus, &c) // an error answer has no documents
	return c.Limits.Docs
}

func one(p *service.Process, s settings, n int) error {
	status, raw, err := p.Call("POST", "/v2/corpora", map[string]any{"key": key(n), "filter_attributes": []any{
		map[string]any{"name": "year", "level": "document", "type": "integer", "indexed": true},
	}})
	if err != nil || status != http.StatusCreated && status != http.StatusConflict {
		return fmt.Errorf("create %s: %d %.300s %w", key(n), status, raw, err)
	}
	for i := range s.documents {
		if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora/"+key(n)+"/documents", map[string]any{
			"type": "core", "id": fmt.Sprintf("d%d", i), "metadata": map[string]any{"year": 2000 + i},
			"document_parts": []any{map[string]any{"text": sentence(n, i)}},
		}); err != nil {
			return err
		}
	}
	return nil
}

func key(n int) string { return fmt.Sprintf("small-%05d", n) }

// sentence returns the text of document i of corpus n: about twelve words, by which the document ranks first.
func sentence(n, i int) string {
	subjects := []string{"the harbour", "a lantern", "the orchard", "winter bread", "the clockmaker", "an old bridge", "the glacier", "a copper kettle", "the signal tower", "night trains"}
	verbs := []string{"keeps", "remembers", "crosses", "repairs", "measures", "hides", "follows"}
	objects := []string{"seven maps", "the quiet river", "a letter from the north", "its own shadow", "the price of salt", "three broken wheels"}
	return fmt.Sprintf("In place %d %s %s %s.", n, subjects[i%len(subjects)], verbs[(n+i)%len(verbs)], objects[(n/7+i)%len(objects)])
}

// Command history measures the cost of saving queries to the history: the same queries, one after another, alternately with
// and without save_history. It needs a built binary. The results are for docs/benchmarks.md.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"quarry/bench/service"
	"quarry/internal/query/measure"
)

func main() {
	binary := flag.String("binary", "./quarry", "the program")
	documents := flag.Int("documents", 500, "documents to index, of ten parts each")
	queries := flag.Int("queries", 400, "queries of each kind")
	flag.Parse()
	if err := run(*binary, *documents, *queries); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		os.Exit(1)
	}
}

func run(binary string, documents, queries int) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.Start(binary, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	if err := fill(p, documents); err != nil {
		return err
	}
	fmt.Printf("| query | without: p50, p95 | saved: p50, p95 | p50 more | record | processor time without / saved |\n|---|---|---|---|---|---|\n")
	for _, c := range []struct {
		name   string
		search map[string]any
	}{
		{"limit 10", map[string]any{"limit": 10}},
		{"limit 10, two sentences of context", map[string]any{"limit": 10, "context_configuration": map[string]any{"sentences_before": 2, "sentences_after": 2}}},
		{"limit 1000", map[string]any{"limit": 1000}},
	} {
		if err := compare(p, dir, c.name, c.search, queries); err != nil {
			return err
		}
	}
	return nil
}

var words = strings.Fields("pump filter valve pressure hydraulic interval service oil gasket bearing torque manual safety electric motor shaft seal replace inspect weekly")

// text returns n words that depend on seed.
func text(seed, n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = words[(seed*7+i*i*3+i*seed)%len(words)]
	}
	return strings.Join(out, " ")
}

func fill(p *service.Process, documents int) error {
	if _, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/corpora", map[string]any{"key": "b"}); err != nil {
		return err
	}
	for i := range documents {
		parts := make([]map[string]any, 10)
		for j := range parts {
			parts[j] = map[string]any{"text": fmt.Sprintf("%s %d.", text(i*10+j, 60), i*10+j)}
		}
		_, err := p.Must(http.StatusCreated, http.MethodPost, "/v2/corpora/b/documents", map[string]any{
			"type": "core", "id": fmt.Sprint("d", i), "document_parts": parts,
			"metadata": map[string]any{"title": text(i, 6), "owner": text(i+1, 2), "year": 2000 + i%30, "tags": strings.Fields(text(i+2, 4))},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compare sends queries alternately with and without saving, and prints a row.
func compare(p *service.Process, dir, name string, search map[string]any, queries int) error {
	var times [2][]time.Duration
	var used [2]time.Duration
	before, err := size(dir)
	if err != nil {
		return err
	}
	const block = 20 // queries, long enough for the resolution of processor time
	for n := 0; n < queries; n += block {
		for kind, save := range []bool{false, true} {
			cpu, err := p.ProcessorTime()
			if err != nil {
				return err
			}
			for i := range block {
				started := time.Now()
				_, err := p.Must(http.StatusOK, http.MethodPost, "/v2/corpora/b/query", map[string]any{
					"query": text(n+i, 5), "search": search, "save_history": save,
				})
				if err != nil {
					return err
				}
				times[kind] = append(times[kind], time.Since(started))
			}
			now, err := p.ProcessorTime()
			if err != nil {
				return err
			}
			used[kind] += now - cpu
		}
	}
	after, err := size(dir)
	if err != nil {
		return err
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	at := func(kind int, q float64) time.Duration {
		return measure.Percentile(times[kind], q).Round(10 * time.Microsecond)
	}
	each := func(kind int) time.Duration {
		return (used[kind] / time.Duration(len(times[kind]))).Round(10 * time.Microsecond)
	}
	fmt.Printf("| %s | %v, %v | %v, %v | %v | %d KB | %v / %v |\n", name, at(0, 0.5), at(0, 0.95), at(1, 0.5), at(1, 0.95),
		at(1, 0.5)-at(0, 0.5), (after-before)/int64(len(times[1]))>>10, each(0), each(1))
	return nil
}

// size returns the size of the database in bytes, without its journal.
func size(dir string) (int64, error) {
	about, err := os.Stat(dir + "/quarry.db")
	if err != nil {
		return 0, err
	}
	return about.Size(), nil
}

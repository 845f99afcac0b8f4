// Command trace measures lists of traces and pages of spans: it fills a database with traces as agents leave them, and asks for each
// filter alone, for several at once, and for a trace of many spans. With a built program it asks over HTTP, too. The results are for
// docs/benchmarks.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"quarry/bench/service"
	"quarry/internal/query/measure"
	"quarry/internal/store"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

func main() {
	binary := flag.String("binary", "", "the program, to ask over HTTP; none asks the store alone")
	database := flag.String("database", "", "address of an empty PostgreSQL database; none is SQLite")
	dir := flag.String("dir", "", "data folder, filled before if it has traces; none is a temporary one")
	traces := flag.Int("traces", 100_000, "traces, of ten spans on average")
	large := flag.Int("spans", 10_000, "spans of the largest trace")
	rounds := flag.Int("rounds", 41, "how often each list is asked for")
	flag.Parse()
	b := bench{database: *database, traces: *traces, large: *large, rounds: *rounds}
	if err := b.run(*binary, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "trace:", err)
		os.Exit(1)
	}
}

type bench struct {
	dir, database         string
	traces, large, rounds int
	largest               string // id of the largest trace
	middle                string // a span of it with children
}

func (b *bench) run(binary, dir string) (err error) {
	var remove func()
	if b.dir, remove, err = service.Folder(dir); err != nil {
		return err
	}
	defer remove()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Config{Dir: b.dir, URL: b.database})
	if err != nil {
		return err
	}
	if err := b.fill(ctx, db); err != nil {
		return err
	}
	s := trace.New(traces.New(db, nil), time.Hour, slog.New(slog.DiscardHandler))
	if err := b.lists(ctx, s); err != nil {
		return err
	}
	if err := b.spans(ctx, s); err != nil {
		return err
	}
	if err := db.Close(); err != nil || binary == "" {
		return err
	}
	return b.overHTTP(binary)
}

// lists asks for each filter of a list.
func (b *bench) lists(ctx context.Context, s *trace.Service) error {
	fmt.Printf("Lists among %d traces (bar: 50 ms at p50):\n\n| filter | found | limit 10: p50, p95 | limit 100: p50, p95 |\n|---|---|---|---|\n", b.traces)
	for _, c := range filters() {
		var times [2][]time.Duration
		found := 0
		for i, limit := range []int{10, 100} {
			l := c.list
			l.Limit = limit
			if !l.Reader.All && l.Reader.Agents == nil {
				l.Reader.All = true
			}
			for range b.rounds {
				began := time.Now()
				page, _, err := s.List(ctx, l)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				times[i] = append(times[i], time.Since(began))
				found = len(page)
			}
		}
		fmt.Printf("| %s | %d | %s | %s |\n", c.name, found, quantiles(times[0]), quantiles(times[1]))
	}
	fmt.Println()
	return nil
}

// spans asks for pages of the largest trace.
func (b *bench) spans(ctx context.Context, s *trace.Service) error {
	all := trace.Reader{All: true}
	first, _, err := s.Spans(ctx, trace.Spans{Trace: b.largest, Limit: 500, Reader: all})
	if err != nil {
		return err
	}
	fmt.Printf("Pages of a trace of %d spans (bar: 20 ms):\n\n| page | p50, p95 |\n|---|---|\n", b.large)
	for _, c := range []struct {
		name string
		list trace.Spans
	}{
		{"first 100", trace.Spans{Limit: 100}},
		{"first 500", trace.Spans{Limit: 500}},
		{"500 from the middle", trace.Spans{Limit: 500, After: first[len(first)-1].Place()}},
		{"without sub-agents", trace.Spans{Limit: 100, Own: true}},
		{"one rare operation", trace.Spans{Limit: 100, Operation: trace.Compaction}},
		{"one common operation", trace.Spans{Limit: 100, Operation: trace.Chat}},
		{"children of the entry", trace.Spans{Limit: 100, Parent: b.middle}},
	} {
		c.list.Trace, c.list.Reader = b.largest, all
		var times []time.Duration
		for range b.rounds {
			began := time.Now()
			if _, _, err := s.Spans(ctx, c.list); err != nil {
				return err
			}
			times = append(times, time.Since(began))
		}
		fmt.Printf("| %s | %s |\n", c.name, quantiles(times))
	}
	var times []time.Duration
	for range b.rounds {
		began := time.Now()
		if _, err := s.Span(ctx, all, b.largest, first[250].ID, false); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	fmt.Printf("| one span by its id | %s |\n\n", quantiles(times))
	return nil
}

// quantiles returns the median and the 95th percentile.
func quantiles(times []time.Duration) string {
	slices.Sort(times)
	at := func(q float64) string {
		return fmt.Sprintf("%.1f ms", float64(measure.Percentile(times, q).Microseconds())/1000)
	}
	return at(0.5) + ", " + at(0.95)
}

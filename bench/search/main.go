// Command search measures the running program over HTTP on 100,000 passages of the Win32 documentation: the indexing rate
// compared with that of the encoder alone, query latency on a kept connection, memory and disk, and the time from a restart
// to the first answer. It needs a built binary. The results are for docs/benchmarks.md and, with
// -passages 20000 -chars 900, for docs/guide/sizes.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"quarry/bench/service"
	"quarry/internal/encode"
	"quarry/internal/encode/asset"
	"quarry/internal/query/evaluate"
	"quarry/internal/query/measure"
)

type settings struct {
	binary, data, dir string
	passages, queries int
	chars, parallel   int
	settle            time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.binary, "binary", "./quarry", "the program")
	flag.StringVar(&s.data, "data", "../shared/data/win32docs", "the collection")
	flag.StringVar(&s.dir, "dir", "", "data folder, which may hold the corpus of a previous run; default: a temporary one")
	flag.IntVar(&s.passages, "passages", 100_000, "passages to index")
	flag.IntVar(&s.queries, "queries", 1000, "queries to time")
	flag.IntVar(&s.chars, "chars", 200, "characters per passage")
	flag.IntVar(&s.parallel, "parallel", 4, "documents in flight while indexing")
	flag.DurationVar(&s.settle, "settle", time.Minute, "wait before memory is read")
	flag.Parse()
	if _, err := os.Stat(s.data); err != nil {
		fmt.Println("skipped: the collection is not at", s.data)
		return
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

type page struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	Metadata json.RawMessage `json:"metadata"`
	Sections []struct {
		Title string `json:"title,omitempty"`
		Text  string `json:"text"`
	} `json:"sections"`
}

func run(s settings) error {
	dir, remove, err := service.Folder(s.dir)
	if err != nil {
		return err
	}
	defer remove()
	s.dir = dir
	questions, err := readQuestions(s)
	if err != nil {
		return err
	}
	p, err := start(s)
	if err != nil {
		return err
	}
	defer p.Stop()
	if status, _, err := p.Call("GET", "/v2/corpora/bench", nil); err != nil {
		return err
	} else if status == http.StatusNotFound {
		if err := p.index(s); err != nil {
			return err
		}
		highest := p.HighestResident()
		p.Stop() // flushes the index from memory
		if err := weigh(s, highest); err != nil {
			return err
		}
		if p, err = start(s); err != nil {
			return err
		}
		defer p.Stop()
	}
	began := time.Now()
	if _, err := p.ask(questions[0]); err != nil {
		return err
	}
	fmt.Printf("restart: %v to serve, %v more to the first answer\n", p.Took.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	for round := range 3 {
		if err := p.time(round, questions); err != nil {
			return err
		}
	}
	time.Sleep(max(0, s.settle-time.Since(p.Began)))
	fmt.Printf("memory: %d MB after %v\n", p.Resident()>>20, time.Since(p.Began).Round(time.Second))
	return nil
}

// weigh prints what indexing took of memory and disk. The service is stopped.
func weigh(s settings, memory int64) error {
	database, err := os.Stat(filepath.Join(s.dir, "quarry.db"))
	if err != nil {
		return err
	}
	var index int64
	err = filepath.WalkDir(filepath.Join(s.dir, "index"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			index += info.Size()
		}
		return err
	})
	fmt.Printf("memory: %d MB at the most while indexing; disk: database %d MB, index %d MB\n", memory>>20, database.Size()>>20, index>>20)
	return err
}

// readQuestions returns the collection's queries, truncated to exactly 12 tokens including [CLS] and [SEP].
func readQuestions(s settings) ([]string, error) {
	counter, err := encode.Open(asset.MiniLM())
	if err != nil {
		return nil, err
	}
	type query struct{ Text string }
	var out []string
	err = evaluate.Each(filepath.Join(s.data, "known-item", "queries.jsonl"), func(q query) error {
		words := strings.Fields(q.Text)
		for n := len(words); n > 0; n-- {
			if text := strings.Join(words[:n], " "); len(counter.Tokens(text)) == 12 {
				out = append(out, text)
				break
			}
		}
		if len(out) == s.queries {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return out, nil
}

// process is the running program, with the calls of this benchmark.
type process struct{ *service.Process }

func start(s settings) (process, error) {
	p, err := service.Start(s.binary, s.dir)
	return process{p}, err
}

func (p process) ask(text string) (time.Duration, error) {
	body := map[string]any{"query": text, "search": map[string]any{"limit": 10, "reranker": map[string]any{"type": "none"}}}
	began := time.Now()
	status, raw, err := p.Call("POST", "/v2/corpora/bench/query", body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("query answers %d: %.300s", status, raw)
	}
	return time.Since(began), err
}

func (p process) time(round int, questions []string) error {
	times := make([]time.Duration, 0, len(questions))
	for _, q := range questions {
		d, err := p.ask(q)
		if err != nil {
			return err
		}
		times = append(times, d)
	}
	slices.Sort(times)
	fmt.Printf("queries, round %d: %d, p50 %v, p99 %v\n", round+1, len(times),
		measure.Percentile(times, 0.5).Round(10*time.Microsecond), measure.Percentile(times, 0.99).Round(10*time.Microsecond))
	return nil
}

var errEnough = errors.New("enough")

// index creates the corpus and adds documents until it has enough passages.
func (p process) index(s settings) error {
	status, raw, err := p.Call("POST", "/v2/corpora", map[string]any{"key": "bench", "filter_attributes": []any{
		map[string]any{"name": "year", "level": "document", "type": "integer"},
		map[string]any{"name": "topic", "level": "document", "type": "text"},
	}})
	if err != nil || status != http.StatusCreated {
		return fmt.Errorf("create corpus: %d %s %w", status, raw, err)
	}
	began := time.Now()
	pages := make(chan page)
	failed := make(chan error, s.parallel)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range s.parallel {
		go func() { failed <- p.send(ctx, pages, s) }()
	}
	parts, sent, err := p.feed(ctx, pages, s, began)
	close(pages)
	for range s.parallel {
		err = errors.Join(err, <-failed)
	}
	took := time.Since(began)
	fmt.Printf("indexed %d passages in %v: %.1f/s\n", parts, took.Round(time.Second), float64(parts)/took.Seconds())
	if err != nil {
		return err
	}
	return p.compareCost(parts, sent)
}

// compareCost prints the processor time per passage of indexing and of encoding alone. Unlike elapsed time, it hardly
// depends on what else the machine does.
func (p process) compareCost(parts int, sent []string) error {
	whole, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	texts, err := p.sample(sent)
	if err != nil {
		return err
	}
	encoder, err := encode.Open(asset.MiniLM())
	if err != nil {
		return err
	}
	out, before := make([]float32, encoder.Dim()), ownTime()
	for _, text := range texts {
		if err := encoder.Encode(text, false, out); err != nil {
			return err
		}
	}
	alone := (ownTime() - before) / time.Duration(len(texts))
	each := whole / time.Duration(parts)
	fmt.Printf("processor time per passage: indexing %v, encoding alone %v, ratio %.2f\n",
		each.Round(time.Microsecond), alone.Round(time.Microsecond), float64(each)/float64(alone))
	return nil
}

func ownTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for invalid arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// sample returns the passages of documents that are spread evenly over those that were sent, with their headings in
// front, as the service encodes them. Those of one part of the collection would not do: a passage of code has half as
// many tokens again as one of text.
func (p process) sample(sent []string) ([]string, error) {
	const documents = 200
	var out []string
	for i := range min(documents, len(sent)) {
		_, raw, err := p.Call("GET", "/v2/corpora/bench/documents/"+url.PathEscape(sent[i*len(sent)/min(documents, len(sent))]), nil)
		if err != nil {
			return nil, err
		}
		var d struct {
			Parts []struct {
				Text     string
				Metadata struct {
					Title   string
					IsTitle bool `json:"is_title"`
				}
			}
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, err
		}
		for _, part := range d.Parts { // the first part is the document's title
			if part.Metadata.IsTitle {
				out = append(out, part.Text)
				continue
			}
			out = append(out, strings.TrimSpace(d.Parts[0].Text+". "+part.Metadata.Title+"\n"+part.Text))
		}
	}
	return out, nil
}

func (p process) send(ctx context.Context, pages <-chan page, s settings) error {
	for d := range pages {
		status, raw, err := p.Call("POST", "/v2/corpora/bench/documents", map[string]any{
			"type": "structured", "id": d.ID, "title": d.Title, "metadata": d.Metadata, "sections": d.Sections,
			"chunking_strategy": map[string]any{"type": "max_chars_chunking_strategy", "max_chars_per_chunk": s.chars},
		})
		if err != nil || status != http.StatusCreated {
			return fmt.Errorf("document %s: %d %.300s %w", d.ID, status, raw, err)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

func (p process) parts() (int, error) {
	_, raw, err := p.Call("GET", "/v2/corpora/bench", nil)
	if err != nil {
		return 0, err
	}
	var c struct {
		Limits struct {
			Parts int `json:"used_parts"`
		} `json:"limits"`
	}
	return c.Limits.Parts, json.Unmarshal(raw, &c)
}

func (p process) feed(ctx context.Context, pages chan<- page, s settings, began time.Time) (parts int, sent []string, err error) {
	last := time.Now()
	for i := 0; i < 4 && err == nil; i++ {
		err = evaluate.Each(filepath.Join(s.data, fmt.Sprintf("documents-%d.jsonl", i)), func(d page) error {
			select {
			case pages <- d:
				sent = append(sent, d.ID)
			case <-time.After(5 * time.Minute):
				return errors.New("the service takes no more documents")
			}
			if time.Since(last) < time.Second {
				return nil
			}
			last = time.Now()
			if parts, err = p.parts(); err != nil {
				return err
			}
			rate := float64(parts) / time.Since(began).Seconds()
			fmt.Fprintf(os.Stderr, "\r%d of %d passages, %.0f/s, %.0fs left   ", parts, s.passages, rate, float64(s.passages-parts)/rate)
			if parts >= s.passages {
				return errEnough
			}
			return nil
		})
	}
	fmt.Fprintln(os.Stderr)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return parts, sent[:max(0, len(sent)-2*s.parallel)], err // the last may not be there yet
}

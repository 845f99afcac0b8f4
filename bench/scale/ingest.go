package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"quarry/bench/scale/data"
	"quarry/bench/service"
	"quarry/internal/corpus/document"
	"quarry/internal/cpu"
	"quarry/internal/query/evaluate"
)

const (
	passageChars = 200 // most characters of a passage that is indexed over HTTP
	atOnce       = 4   // documents in flight
)

// moment is how far indexing was, and what it had taken.
type moment struct {
	parts     int
	wall, cpu time.Duration
}

// ingest measures indexing over HTTP: how the rate holds up, and what a passage costs beside its encoding, on each path
// of the CPU.
func (b *bench) ingest() error {
	paths := cpu.Available()
	for _, path := range paths[min(1, len(paths)-1):] {
		if err := b.ingestOn(path); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) ingestOn(path cpu.Path) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.StartWith(b.binary, dir, os.Stderr, "QUARRY_LOG_LEVEL=warn", "QUARRY_KERNEL="+path.String())
	if err != nil {
		return err
	}
	defer p.Stop()
	if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "bench", "filter_attributes": []any{
		map[string]any{"name": "year", "level": "document", "type": "integer"},
		map[string]any{"name": "topic", "level": "document", "type": "text"},
	}}); err != nil {
		return err
	}
	course, err := b.index(p)
	if err != nil {
		return err
	}
	alone, err := b.encodeAlone(p, path)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d passages over HTTP, %d documents at once\n", path, course[len(course)-1].parts, atOnce)
	head("tenth", "passages/s", "processor time a passage")
	first, last := moment{}, moment{}
	for i := range 10 {
		from, to := at(course, i, 10), at(course, i+1, 10)
		last = moment{to.parts - from.parts, to.wall - from.wall, to.cpu - from.cpu}
		if i == 0 {
			first = last
		}
		row(i+1, fmt.Sprintf("%.0f", last.rate()), last.cost().Round(time.Microsecond))
	}
	whole := course[len(course)-1]
	fmt.Printf("\nlast tenth ÷ first: rate %.2f (bar .9), processor time %.2f; a passage takes %v, encoding alone %v: %.2f (bar 1.2)\n",
		last.rate()/first.rate(), float64(last.cost())/float64(first.cost()), whole.cost().Round(time.Microsecond), alone.Round(time.Microsecond),
		float64(whole.cost())/float64(alone))
	return nil
}

func (m moment) rate() float64       { return float64(m.parts) / m.wall.Seconds() }
func (m moment) cost() time.Duration { return m.cpu / time.Duration(max(1, m.parts)) }

// at returns the first moment of a course at which a share of all parts was there.
func at(course []moment, share, of int) moment {
	all := course[len(course)-1].parts
	for _, m := range course {
		if m.parts*of >= all*share {
			return m
		}
	}
	return course[len(course)-1]
}

// index sends pages of the collection until there are enough passages, and returns its course.
func (b *bench) index(p *service.Process) ([]moment, error) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	pages := make(chan json.RawMessage)
	group, sending := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error { return send(p, pages) })
	}
	group.Go(func() error {
		defer close(pages)
		return b.feed(sending, pages)
	})
	course, err := b.watch(sending, p)
	cancel()
	if sent := group.Wait(); !errors.Is(sent, context.Canceled) {
		err = errors.Join(err, sent)
	}
	return course, err
}

// feed hands out the pages of the collection as requests until ctx ends.
func (b *bench) feed(ctx context.Context, pages chan<- json.RawMessage) error {
	for i := range 4 {
		err := evaluate.Each(filepath.Join(b.data, fmt.Sprintf("documents-%d.jsonl", i)), func(d map[string]any) error {
			d["type"] = "structured"
			d["chunking_strategy"] = map[string]any{"type": "max_chars_chunking_strategy", "max_chars_per_chunk": passageChars}
			for _, s := range d["sections"].([]any) {
				if section := s.(map[string]any); section["title"] == "" {
					delete(section, "title")
				}
			}
			raw, err := json.Marshal(d)
			if err != nil {
				return err
			}
			select {
			case pages <- raw:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func send(p *service.Process, pages <-chan json.RawMessage) error {
	for raw := range pages {
		if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora/bench/documents", raw); err != nil {
			return err
		}
	}
	return nil
}

// watch notes how far the service is until there are enough passages.
func (b *bench) watch(ctx context.Context, p *service.Process) (course []moment, err error) {
	began, bar := time.Now(), data.NewProgress("indexing", 0)
	before, err := p.ProcessorTime()
	if err != nil {
		return nil, err
	}
	for course = []moment{{}}; course[len(course)-1].parts < b.settings.ingest; {
		select {
		case <-ctx.Done():
			return course, fmt.Errorf("after %d passages: %w", course[len(course)-1].parts, context.Cause(ctx))
		case <-time.After(200 * time.Millisecond):
		}
		raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/bench", nil)
		if err != nil {
			return course, err
		}
		var c struct {
			Limits struct {
				Parts int `json:"used_parts"`
			}
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return course, err
		}
		spent, err := p.ProcessorTime()
		if err != nil {
			return course, err
		}
		course = append(course, moment{c.Limits.Parts, time.Since(began), spent - before})
		bar.At(min(c.Limits.Parts, b.settings.ingest), b.settings.ingest)
	}
	return course, nil
}

// encodeAlone returns the processor time that encoding a passage takes by itself, of two thousand of the corpus with their
// headings in front, as the service encodes them.
func (b *bench) encodeAlone(p *service.Process, path cpu.Path) (time.Duration, error) {
	texts, err := sample(p, 2000)
	if err != nil {
		return 0, err
	}
	if err := cpu.Use(path.String()); err != nil {
		return 0, err
	}
	defer func() { _ = cpu.Use("auto") }() // a path that every CPU has
	out, before := make([]float32, b.enc.Dim()), ownTime()
	for _, text := range texts {
		if err := b.enc.Encode(text, false, out); err != nil {
			return 0, err
		}
	}
	return (ownTime() - before) / time.Duration(len(texts)), nil
}

// sample returns about n passages of the corpus.
func sample(p *service.Process, n int) (out []string, err error) {
	raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/bench/documents?limit=1000", nil)
	if err != nil {
		return nil, err
	}
	var list struct{ Documents []struct{ ID string } }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, d := range list.Documents {
		if len(out) >= n {
			break
		}
		raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/bench/documents/"+url.PathEscape(d.ID), nil)
		if err != nil {
			return nil, err
		}
		var whole struct {
			Parts []struct {
				Text     string
				Metadata struct{ Title string }
			}
		}
		if err := json.Unmarshal(raw, &whole); err != nil {
			return nil, err
		}
		for _, part := range whole.Parts { // the first is the title of the document
			out = append(out, document.JoinTitles(whole.Parts[0].Text, part.Metadata.Title)+". "+part.Text)
		}
	}
	return out, nil
}

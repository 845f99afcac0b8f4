// Package course measures indexing over HTTP: how its rate holds up, and what a passage costs beside its encoding.
package course

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"quarry/bench/scale/data"
	"quarry/bench/scale/table"
	"quarry/bench/service"
	"quarry/internal/corpus/document"
	"quarry/internal/cpu"
	"quarry/internal/encode"
	"quarry/internal/query/evaluate"
)

const (
	passageChars = 200    // most characters of a passage that is indexed over HTTP
	atOnce       = 4      // documents in flight
	longest      = 30_000 // bytes of a document that is sent
)

// moment is how far indexing was, and what it had taken.
type moment struct {
	parts     int
	wall, cpu time.Duration
}

// Measurement is what is indexed, and by what.
type Measurement struct {
	Binary   string // the program
	Data     string // folder of the collection
	Passages int    // how many are indexed
	Encoder  *encode.Encoder
}

// Run indexes on each path of the CPU and prints the course.
func (m Measurement) Run(ctx context.Context) error {
	pages, err := m.pages()
	if err != nil {
		return err
	}
	paths := cpu.Available()
	for _, path := range paths[min(1, len(paths)-1):] {
		if err := m.runOn(ctx, path, pages); err != nil {
			return err
		}
	}
	return nil
}

func (m Measurement) runOn(ctx context.Context, path cpu.Path, pages []page) error {
	dir, remove, err := service.Folder("")
	if err != nil {
		return err
	}
	defer remove()
	p, err := service.StartWith(m.Binary, dir, os.Stderr, "QUARRY_LOG_LEVEL=warn", "QUARRY_KERNEL="+path.String())
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
	course, sent, err := m.index(ctx, p, pages)
	if err != nil {
		return err
	}
	alone, err := m.encodeAlone(p, pages[:max(1, sent)], path)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d passages over HTTP, %d documents at once\n", path, course[len(course)-1].parts, atOnce)
	table.Head("tenth", "passages/s", "processor time a passage")
	first, last := moment{}, moment{}
	for i := range 10 {
		from, to := at(course, i, 10), at(course, i+1, 10)
		last = moment{to.parts - from.parts, to.wall - from.wall, to.cpu - from.cpu}
		if i == 0 {
			first = last
		}
		table.Row(i+1, fmt.Sprintf("%.0f", last.rate()), last.cost().Round(time.Microsecond))
	}
	whole := course[len(course)-1]
	fmt.Printf("\nlast tenth ÷ first: rate %.2f (bar .9), processor time %.2f; a passage takes %v, encoding alone %v: %.2f (bar 1.2)\n",
		last.rate()/first.rate(), float64(last.cost())/float64(first.cost()), whole.cost().Round(time.Microsecond), alone.Round(time.Microsecond),
		float64(whole.cost())/float64(alone))
	return nil
}

func (o moment) rate() float64       { return float64(o.parts) / o.wall.Seconds() }
func (o moment) cost() time.Duration { return o.cpu / time.Duration(max(1, o.parts)) }

// at returns the moment of a course at which a share of all parts was there, between the two at which it was looked.
func at(course []moment, share, of int) moment {
	target := course[len(course)-1].parts * share / of
	for i, m := range course {
		if m.parts < target {
			continue
		}
		if i == 0 || m.parts == target {
			return m
		}
		before := course[i-1]
		between := func(a, b time.Duration) time.Duration {
			return a + (b-a)*time.Duration(target-before.parts)/time.Duration(m.parts-before.parts)
		}
		return moment{target, between(before.wall, m.wall), between(before.cpu, m.cpu)}
	}
	return course[len(course)-1]
}

// page is a document of the collection as a request.
type page struct {
	id  string
	raw json.RawMessage
}

// pages returns the documents of the collection in an order drawn at random, the same in every run: as they stand there,
// those of one kind lie together, and a passage of code has half as many tokens again as one of text. Very long ones, of
// which each is of one kind, are left out.
func (m Measurement) pages() (out []page, err error) {
	for i := range 4 {
		err := evaluate.Each(filepath.Join(m.Data, fmt.Sprintf("documents-%d.jsonl", i)), func(d map[string]any) error {
			d["type"] = "structured"
			d["chunking_strategy"] = map[string]any{"type": "max_chars_chunking_strategy", "max_chars_per_chunk": passageChars}
			for _, s := range d["sections"].([]any) {
				if section := s.(map[string]any); section["title"] == "" {
					delete(section, "title")
				}
			}
			raw, err := json.Marshal(d)
			if len(raw) <= longest {
				out = append(out, page{d["id"].(string), raw})
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, nil
}

// index sends pages until there are enough passages, and returns its course and how many pages were sent.
func (m Measurement) index(ctx context.Context, p *service.Process, pages []page) (course []moment, sent int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var next atomic.Int64
	group, sending := errgroup.WithContext(ctx)
	for range atOnce {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < len(pages) && sending.Err() == nil; i = int(next.Add(1)) - 1 {
				if _, err := p.Must(http.StatusCreated, "POST", "/v2/corpora/bench/documents", pages[i].raw); err != nil {
					return err
				}
			}
			return sending.Err()
		})
	}
	course, err = m.watch(sending, p)
	cancel()
	if failed := group.Wait(); !errors.Is(failed, context.Canceled) {
		err = errors.Join(err, failed)
	}
	return course, min(len(pages), int(next.Load())-atOnce), err
}

// watch notes how far the service is until there are enough passages.
func (m Measurement) watch(ctx context.Context, p *service.Process) (course []moment, err error) {
	began, bar := time.Now(), data.NewProgress("indexing", 0)
	before, err := p.ProcessorTime()
	if err != nil {
		return nil, err
	}
	for course = []moment{{}}; course[len(course)-1].parts < m.Passages; {
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
		bar.At(min(c.Limits.Parts, m.Passages), m.Passages)
	}
	return course, nil
}

// sampled is how many documents are encoded again by themselves.
const sampled = 200

// encodeAlone returns the processor time that encoding a passage takes by itself: of documents spread evenly over those
// that were sent, each passage with its headings in front, as the service encodes it.
func (m Measurement) encodeAlone(p *service.Process, sent []page, path cpu.Path) (time.Duration, error) {
	var texts []string
	for i := range min(sampled, len(sent)) {
		some, err := passages(p, sent[i*len(sent)/min(sampled, len(sent))].id)
		if err != nil {
			return 0, err
		}
		texts = append(texts, some...)
	}
	if err := cpu.Use(path.String()); err != nil {
		return 0, err
	}
	defer func() { _ = cpu.Use("auto") }() // a path that every CPU has
	out, before := make([]float32, m.Encoder.Dim()), spent()
	for _, text := range texts {
		if err := m.Encoder.Encode(text, false, out); err != nil {
			return 0, err
		}
	}
	return (spent() - before) / time.Duration(max(1, len(texts))), nil
}

// spent returns the processor time that this process has used, zero where the system does not tell.
func spent() time.Duration {
	t, _ := service.OwnTime()
	return t
}

// passages returns what is encoded of a document.
func passages(p *service.Process, id string) (out []string, err error) {
	raw, err := p.Must(http.StatusOK, "GET", "/v2/corpora/bench/documents/"+url.PathEscape(id), nil)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Parts []struct {
			Text     string
			Metadata struct {
				Title   string
				IsTitle bool `json:"is_title"`
			}
		}
	}
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, err
	}
	for _, part := range whole.Parts { // the first is the title of the document
		if part.Metadata.IsTitle {
			out = append(out, part.Text)
			continue
		}
		out = append(out, document.JoinTitles(whole.Parts[0].Text, part.Metadata.Title)+". "+part.Text)
	}
	return out, nil
}

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"quarry/bench/scale/table"
	"quarry/bench/service"
)

// questionTokens is the length of the queries over HTTP, in tokens of the encoder, with the two that frame a text.
const questionTokens = 12

// short returns the questions cut to exactly 12 tokens.
func (b *bench) short() (out []string) {
	for _, q := range b.questions {
		words := strings.Fields(q)
		for n := len(words); n > 0; n-- {
			if text := strings.Join(words[:n], " "); len(b.enc.Tokens(text)) == questionTokens {
				out = append(out, text)
				break
			}
		}
	}
	return out
}

// kind is a kind of query over HTTP.
type kind struct {
	name, corpus string
	search       map[string]any // beside limit and reranker
	times        []float64
	refused      string
}

// http measures queries over HTTP, one client, on a kept connection, kinds in turns.
func (b *bench) http() error {
	dir, err := b.load()
	if err != nil {
		return err
	}
	p, err := b.serve(dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	questions := b.short()
	for _, key := range []string{allKey, tenthKey} { // which builds the index where there is none
		if _, err := query(p, key, questions[0], nil); err != nil {
			return err
		}
		if _, err := b.rest(p, key); err != nil {
			return err
		}
	}
	kinds := []*kind{
		{name: "all", corpus: allKey},
		{name: "a tenth of them", corpus: tenthKey},
		{name: "all, filter of 10 % of documents", corpus: allKey, search: map[string]any{"metadata_filter": "doc.share = 'tenth'"}},
		{name: "all, filter of 10 % of passages", corpus: allKey, search: map[string]any{"metadata_filter": "part.draw < 100"}},
		{name: "all, filter of 0.1 % of documents", corpus: allKey, search: map[string]any{"metadata_filter": "doc.share = 'thousandth'"}},
		{name: "all, filter of 0.1 % of passages", corpus: allKey, search: map[string]any{"metadata_filter": "part.draw < 1"}},
		{name: "all, rank 101 on", corpus: allKey, search: map[string]any{"offset": 100}},
		{name: "all, exact", corpus: allKey, search: map[string]any{"exact": true}},
	}
	for range b.rounds {
		for _, k := range kinds {
			if err := b.askKind(p, k, questions); err != nil {
				return err
			}
		}
	}
	encoder, err := b.encoderAlone(questions)
	if err != nil {
		return err
	}
	fmt.Printf("\n%d questions of %d tokens, λ default, reranker none, limit 10, one client; the encoder alone: %s\n", len(questions), questionTokens, table.Milliseconds(encoder))
	table.Head("query", "p50", "p95", "p99", "÷ all at p50", "share of the encoder at p50")
	for _, k := range kinds {
		if k.refused != "" {
			table.Row(k.name, "refused: "+k.refused, "", "", "", "")
			continue
		}
		p50 := table.Median(k.times)
		table.Row(k.name, table.Milliseconds(p50), table.Milliseconds(table.Quantile(k.times, 0.95)), table.Milliseconds(table.Quantile(k.times, 0.99)), fmt.Sprintf("%.2f", p50/table.Median(kinds[0].times)), fmt.Sprintf("%.0f %%", 100*encoder/p50))
	}
	return nil
}

// askKind asks all questions once. A program that does not know the kind refuses it, which is noted.
func (b *bench) askKind(p *service.Process, k *kind, questions []string) error {
	for _, q := range questions {
		if k.refused != "" {
			return nil
		}
		if err := b.ctx.Err(); err != nil {
			return err
		}
		took, err := query(p, k.corpus, q, k.search)
		switch {
		case err == nil:
			k.times = append(k.times, took)
		case k.search["exact"] != nil && strings.Contains(err.Error(), "answers 400"):
			k.refused = "the program does not know it"
		default:
			return err
		}
	}
	return nil
}

// query asks a question and returns how many seconds the answer took.
func query(p *service.Process, key, text string, more map[string]any) (float64, error) {
	search := map[string]any{"limit": 10, "reranker": map[string]any{"type": "none"}}
	for name, value := range more {
		search[name] = value
	}
	began := time.Now()
	_, err := p.Must(http.StatusOK, "POST", "/v2/corpora/"+key+"/query", map[string]any{"query": text, "search": search})
	return time.Since(began).Seconds(), err
}

// encoderAlone returns the median of what a question costs the encoder, in seconds.
func (b *bench) encoderAlone(questions []string) (float64, error) {
	out := make([]float32, b.enc.Dim())
	var times []float64
	for range 3 {
		for _, q := range questions {
			began := time.Now()
			if err := b.enc.Encode(q, false, out); err != nil {
				return 0, err
			}
			times = append(times, time.Since(began).Seconds())
		}
	}
	return table.Median(times), nil
}

// memory measures what the service takes with all passages: rebuilding the index from rows, the time from a start to the
// first answer, memory after many queries, and bytes on disk.
func (b *bench) memory() error {
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
	defer func() { p.Stop() }()
	before, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	rebuilt, err := query(p, allKey, questions[0], nil)
	if err != nil {
		return err
	}
	spent, err := p.ProcessorTime()
	if err != nil {
		return err
	}
	highest := p.HighestResident()
	merged, err := b.rest(p, allKey)
	if err != nil {
		return err
	}
	p.Stop() // which writes what is in memory alone
	index, err := size(filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	database, err := size(dir)
	if err != nil {
		return err
	}
	if p, err = b.serve(dir); err != nil {
		return err
	}
	first, err := query(p, allKey, questions[0], nil)
	if err != nil {
		return err
	}
	for i := range b.asked {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if _, err := query(p, allKey, questions[i%len(questions)], nil); err != nil {
			return err
		}
	}
	n := float64(len(b.passages.Texts))
	table.Head("what", "measured", "bar at a million")
	table.Row("rebuilt from rows, to the first answer", fmt.Sprintf("%.1f s", rebuilt), "≤ 5 min with merging")
	table.Row("its processor time; most memory (VmHWM)", fmt.Sprintf("%.1f s; %s", (spent-before).Seconds(), table.Megabytes(highest)), "")
	table.Row("then merged into one segment: work, processor time", fmt.Sprintf("%.1f s, %.1f s", merged.worked.Seconds(), merged.spent.Seconds()), "")
	table.Row("most memory meanwhile: anonymous; VmRSS with files", fmt.Sprintf("%s; %s", table.Megabytes(merged.anonymous), table.Megabytes(merged.resident)), "")
	table.Row("start with a warm file cache, to the first answer", fmt.Sprintf("%.2f s to serve, %.2f s more", p.Took.Seconds(), first), "≤ 3 s")
	table.Row(fmt.Sprintf("VmRSS after %d queries; of it anonymous", b.asked), fmt.Sprintf("%s; %s", table.Megabytes(p.Resident()), table.Megabytes(p.Anonymous())), "≤ 1 GB")
	table.Row("index on disk, a passage", fmt.Sprintf("%.0f bytes", float64(index)/n), "")
	table.Row("database on disk with the tenth, a passage", fmt.Sprintf("%.0f bytes", float64(database-index)/(n+n/10)), "")
	return nil
}

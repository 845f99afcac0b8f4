package query

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/id"
	"quarry/internal/query/history"
)

// saveTimeout bounds a write to the history, which does not end with its caller's context.
const saveTimeout = 10 * time.Second

// save writes the query to the history if it belongs there, even if it failed or its caller has left: the tokens of the
// model have been paid for.
func (r *run) save(ctx context.Context) {
	if !r.found.Save {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	record := r.record()
	if r.ask.Label == nil || r.ask.Label(&record) {
		r.cfg.History.Save(ctx, record)
	}
}

// observe reports the query to the observer.
func (r *run) observe() {
	if r.cfg.Observer == nil {
		return
	}
	keys := make([]string, len(r.found.Corpora))
	for i, c := range r.found.Corpora {
		keys[i] = c.Key
	}
	r.cfg.Observer.Searched(keys, r.latency())
}

// latency returns how long the query took until its answer was complete.
func (r *run) latency() time.Duration {
	if r.answer.Generated != nil {
		return time.Since(r.started)
	}
	return r.ahead + r.found.Latency
}

// record returns the record of the query.
func (r *run) record() history.Record {
	started := r.started.UTC()
	out := history.Record{
		Summary: history.Summary{ID: id.NewQuery(), Text: r.ask.Search.Text, Started: started, Latency: r.latency()},
		Request: r.request(),
	}
	for _, c := range r.found.Corpora {
		one := history.Corpus{No: c.No, Key: c.Key}
		if !slices.Contains(out.Corpora, one) {
			out.Corpora = append(out.Corpora, one)
		}
	}
	if r.rephrased.Type != "" {
		out.Spans = append(out.Spans, r.rephrased)
	}
	for _, x := range r.answer.Rewritten {
		span := history.Span{Type: history.Rewriting, Started: x.Started.UTC(), Latency: x.Latency, CorpusKey: x.CorpusKey}
		if x.Warning != "" {
			span.Warnings = []string{string(x.Warning)}
		} else {
			span.Extracted = &history.Extraction{Query: x.Text, Filter: x.Filter}
		}
		out.Spans = append(out.Spans, span)
	}
	for _, s := range r.found.Trace {
		out.Spans = append(out.Spans, history.Span{
			Type: history.Type(s.Type), Started: s.Started.UTC(), Latency: s.Latency, Results: s.Results, Reranked: s.Reranked,
		})
	}
	if g := r.answer.Generated; g != nil {
		addGenerated(&out, g)
	}
	return out
}

// request returns the request that the record shows.
func (r *run) request() json.RawMessage {
	if r.ask.Request != nil {
		return r.ask.Request
	}
	type corpus struct {
		Key string `json:"corpus_key"`
	}
	corpora := make([]corpus, len(r.ask.Search.Sources))
	for i, s := range r.ask.Search.Sources {
		corpora[i].Key = s.Corpus
	}
	raw, _ := json.Marshal(map[string]any{"query": r.ask.Search.Text, "search": map[string]any{"corpora": corpora}}) // strings always encode
	return raw
}

// addGenerated adds what was generated to a record.
func addGenerated(r *history.Record, g *generate.Answer) {
	r.Consistency, r.Evidence = g.Score, g.Evidence
	if g.Summary != "" {
		r.Generation = &g.Summary
	}
	for _, s := range g.Steps {
		span := history.Span{Started: s.Started.UTC(), Latency: s.Latency}
		switch s.Name {
		case generate.StepGeneration:
			span.Type, span.Prompt, span.Generation, span.Evidence = history.Generation, g.Prompt, g.Summary, g.Evidence
		case generate.StepScore:
			span.Type, span.Score = history.Consistent, *g.Score
		}
		r.Spans = append(r.Spans, span)
	}
}

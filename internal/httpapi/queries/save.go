package queries

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"quarry/internal/answer/generate"
	"quarry/internal/httpapi"
	"quarry/internal/id"
	"quarry/internal/query/history"
)

// request is QueryRequest: a request of any of the three operations in the shape over several corpora, as the client
// gave it. What was left out or null is left out, and so is what the contract does not know.
type request struct {
	Query     raw            `json:"query,omitempty"`
	Search    *requestSearch `json:"search"`
	Generate  raw            `json:"generation,omitempty"`
	Stream    raw            `json:"stream_response,omitempty"`
	Save      raw            `json:"save_history,omitempty"`
	Rewriting raw            `json:"intelligent_query_rewriting,omitempty"`
	Explain   raw            `json:"explain,omitempty"`

	rewriting bool
}

// raw is a member as the client wrote it; nil for null and when it is absent.
type raw = *json.RawMessage

type requestSearch struct {
	Corpora  []requestCorpus `json:"corpora"`
	Limit    raw             `json:"limit,omitempty"`
	Offset   raw             `json:"offset,omitempty"`
	Context  raw             `json:"context_configuration,omitempty"`
	Reranker raw             `json:"reranker,omitempty"`
	MaxBy    raw             `json:"max_by,omitempty"`
}

type requestCorpus struct {
	CorpusKey  raw `json:"corpus_key,omitempty"`
	Query      raw `json:"query,omitempty"`
	Filter     raw `json:"metadata_filter,omitempty"`
	Lambda     raw `json:"lexical_interpolation,omitempty"`
	Dimensions raw `json:"custom_dimensions,omitempty"`
	Semantics  raw `json:"semantics,omitempty"`
}

// postRequest reads the body of a POST; key is the corpus of the path, "" for the operation over several corpora.
func postRequest(body json.RawMessage, key string) (*request, error) {
	var out request
	var flat struct {
		Search requestCorpus `json:"search"`
	}
	if err := httpapi.Decode(body, &out); err != nil {
		return nil, err
	}
	if err := httpapi.Decode(body, &flat); err != nil {
		return nil, err
	}
	under := flat.Search
	if key == "" {
		under = requestCorpus{Semantics: under.Semantics}
	} else if len(out.Search.Corpora) == 0 {
		out.Search.Corpora = []requestCorpus{{Query: under.Query}}
	}
	for i := range out.Search.Corpora {
		c := &out.Search.Corpora[i]
		if key != "" {
			c.CorpusKey = text(key)
		}
		c.Filter, c.Lambda = or(c.Filter, under.Filter), or(c.Lambda, under.Lambda)
		c.Dimensions, c.Semantics = or(c.Dimensions, under.Dimensions), or(c.Semantics, under.Semantics)
	}
	return &out, nil
}

// getRequest reads the parameters of a GET, which the chain has checked.
func getRequest(q url.Values, key string) *request {
	plain := func(name string) raw {
		if v := q.Get(name); v != "" {
			value := json.RawMessage(v) // a number or a boolean
			return &value
		}
		return nil
	}
	return &request{
		Query:  text(q.Get("query")),
		Search: &requestSearch{Corpora: []requestCorpus{{CorpusKey: text(key)}}, Limit: plain("limit"), Offset: plain("offset")},
		Save:   plain("save_history"), Rewriting: plain("intelligent_query_rewriting"),
	}
}

func text(s string) raw {
	b, _ := json.Marshal(s) // a string always encodes
	value := json.RawMessage(b)
	return &value
}

// saved gives the record of a query that was just answered, or whose model failed.
func saved(k *work) (history.Record, error) {
	out := history.Record{Summary: history.Summary{
		ID: id.NewQuery(), Text: k.query.Text, Started: k.started.UTC(), Latency: k.found.Latency,
	}}
	var err error
	if out.Request, err = json.Marshal(k.asked); err != nil {
		return out, fmt.Errorf("encode request: %w", err)
	}
	for _, c := range k.found.Corpora {
		one := history.Corpus{No: c.No, Key: c.Key}
		if !slices.Contains(out.Corpora, one) {
			out.Corpora = append(out.Corpora, one)
		}
	}
	if k.asked.rewriting {
		for _, s := range k.query.Sources {
			out.Spans = append(out.Spans, history.Span{
				Type: history.Rewriting, Started: k.started.UTC(), CorpusKey: s.Corpus, Warnings: []string{"failure"},
			})
		}
	}
	for _, s := range k.found.Trace {
		span := history.Span{Type: history.Type(s.Type), Started: s.Started.UTC(), Latency: s.Latency, Results: s.Results}
		for _, r := range s.Reranked {
			span.Reranked = append(span.Reranked, history.Reranked{Text: r.Text, Score: r.Score, Original: r.Original})
		}
		out.Spans = append(out.Spans, span)
	}
	if g := k.generated; g != nil {
		out.Latency = time.Since(k.started)
		tell(&out, g)
	}
	return out, nil
}

// tell adds what was generated to a record.
func tell(r *history.Record, g *generate.Answer) {
	r.Consistency = g.Score
	if g.Summary != "" {
		r.Generation = &g.Summary
	}
	for _, s := range g.Steps {
		span := history.Span{Started: s.Started.UTC(), Latency: s.Latency}
		switch s.Name {
		case generate.StepGeneration:
			span.Type, span.Prompt, span.Generation = history.Generation, g.Prompt, g.Summary
		case generate.StepScore:
			span.Type, span.Score = history.Consistent, *g.Score
		}
		r.Spans = append(r.Spans, span)
	}
}

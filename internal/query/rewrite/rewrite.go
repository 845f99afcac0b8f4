// Package rewrite moves what a query says about attributes of documents into filters: a language model finds it, and the
// filter language checks it. A filter that comes out never selects what the caller's own filter does not.
package rewrite

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"quarry/internal/corpus"
	"quarry/internal/llm"
)

// Query is what is to be searched for in one corpus.
type Query struct {
	Corpus corpus.Corpus
	Text   string
	Filter string // the caller's, which the filter language accepts; "" for none
}

// Warning is why the query of a corpus stays as it is, in the contract's words.
type Warning string

// The warnings. Failure covers everything that keeps an answer of the model away, also that the model can't write.
const (
	NoAttributes Warning = "no_filter_attrs"
	Nothing      Warning = "extracted_empty_filter"
	Unreadable   Warning = "failed_to_parse_extracted_filter"
	Failure      Warning = "failure"
)

// Failed reports whether the warning is about an error. That there is nothing to find is none.
func (w Warning) Failed() bool { return w == Unreadable || w == Failure }

// Outcome is what became of a Query.
type Outcome struct {
	Text    string  // what to search for
	Filter  string  // the caller's and the one found
	Warning Warning // "" if a filter was found; otherwise Text and Filter are those of the Query
	Started time.Time
	Latency time.Duration
}

// Service rewrites queries. Safe for concurrent use.
type Service struct {
	models llm.Models
	log    *slog.Logger
}

// New returns a service.
func New(m llm.Models, log *slog.Logger) *Service { return &Service{m, log} }

const (
	// patience is how long a rewriting may take: it improves a query that works without it.
	patience = 30 * time.Second
	// atOnce bounds the calls of one request that run at the same time. No request but one made to harm has as many corpora.
	atOnce = 64
)

// Run rewrites queries by one call each of a model, all at once. The model is a registered name, "" for the default one.
// Failures are warnings; the error is that of ctx.
func (s *Service) Run(ctx context.Context, model string, all []Query) ([]Outcome, error) {
	out := make([]Outcome, len(all))
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range all {
		group.Go(func() error {
			out[i] = s.one(within, model, &all[i])
			return nil
		})
	}
	_ = group.Wait() // always nil
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// one rewrites the query of one corpus.
func (s *Service) one(ctx context.Context, model string, q *Query) (out Outcome) {
	out = Outcome{Text: q.Text, Filter: q.Filter, Started: time.Now()}
	defer func() { out.Latency = time.Since(out.Started) }()
	m, err := s.models.Model(ctx, model) // each is for one call
	switch {
	case err != nil:
		return s.failed(out, q, err)
	case m.Embedded:
		out.Warning = Failure
		return out
	case len(q.Corpus.Attributes) == 0:
		out.Warning = NoAttributes
		return out
	}
	found, err := ask(ctx, m, q)
	if err != nil {
		return s.failed(out, q, err)
	}
	combined, warning := q.narrow(found.Filter)
	if warning != "" {
		out.Warning = warning
		return out
	}
	out.Filter, out.Text = combined, q.rest(found.Query)
	return out
}

func (s *Service) failed(out Outcome, q *Query, err error) Outcome {
	s.log.Warn("a query is searched as it was asked, without filters from its words", "corpus", q.Corpus.Key, "error", err)
	out.Warning = Failure
	return out
}

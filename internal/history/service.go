package history

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"quarry/internal/retrieve"
)

// Service is the use cases over the history. Safe for concurrent use.
type Service struct {
	store Store
	keep  time.Duration
	log   *slog.Logger
}

// New gives a service that keeps records for the time given.
func New(s Store, keep time.Duration, log *slog.Logger) *Service { return &Service{s, keep, log} }

// Save keeps r. The answer that r tells of is computed by then and must not be lost with its record, so what goes
// wrong here is logged and not returned.
func (s *Service) Save(ctx context.Context, r Record) {
	r.Started = r.Started.UTC().Truncate(time.Microsecond)
	bound(r.Spans)
	if err := s.store.Save(ctx, r); err != nil {
		s.log.Warn("a query is missing from the history", "query_id", r.ID, "error", err)
	}
}

// Get gives a record that the reader may see.
func (s *Service) Get(ctx context.Context, queryID string, reader Reader) (Record, error) {
	return s.store.Get(ctx, queryID, reader)
}

// List gives a page of records, newest first, and whether more follow.
func (s *Service) List(ctx context.Context, l List) ([]Summary, bool, error) {
	return s.store.List(ctx, l)
}

const (
	// expireStep is how many records one step removes, so that other writes wait some ten milliseconds at most.
	expireStep = 100
	// expireEvery is how often records are looked for whose time is over.
	expireEvery = 10 * time.Minute
)

// Run removes records whose time is over until ctx ends. Several nodes may do so at once.
func (s *Service) Run(ctx context.Context) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		if _, err := s.Expire(ctx, time.Now()); err != nil && ctx.Err() == nil {
			s.log.Warn("old queries stay in the history for now", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// Expire removes the records whose time is over at a moment, in small steps, and says how many went.
func (s *Service) Expire(ctx context.Context, now time.Time) (removed int, err error) {
	for {
		n, err := s.store.Expire(ctx, now.Add(-s.keep), expireStep)
		removed += n
		if err != nil || n < expireStep {
			return removed, err
		}
	}
}

// MaxResultBytes bounds the results that one record keeps, in bytes of their texts and metadata: a pool of a thousand
// candidates of some size would make a record of many megabytes. Those that the last stage placed highest are kept.
const MaxResultBytes = 1 << 20

// bound cuts the results of a record down to MaxResultBytes.
func bound(spans []Span) {
	at := slices.IndexFunc(spans, func(s Span) bool { return s.Type == Search })
	if at < 0 {
		return
	}
	results := spans[at].Results
	kept := make([]bool, len(results))
	total := 0
	for _, i := range importance(spans[at:], len(results)) {
		if total += size(&results[i]); total > MaxResultBytes {
			break
		}
		kept[i] = true
	}
	place := make([]int, len(results)) // of each result among those kept
	var out []retrieve.Result
	for i, r := range results {
		if place[i] = len(out); kept[i] {
			out = append(out, r)
		}
	}
	spans[at].Results = out
	for i := range spans {
		spans[i].Reranked = slices.DeleteFunc(spans[i].Reranked, func(r Reranked) bool { return !kept[r.Result] })
		for j := range spans[i].Reranked {
			spans[i].Reranked[j].Result = place[spans[i].Reranked[j].Result]
		}
	}
}

// importance gives the positions of n results: first those of the last stage in its order, then the others.
func importance(spans []Span, n int) []int {
	out := make([]int, 0, n)
	seen := make([]bool, n)
	for _, s := range slices.Backward(spans) {
		if s.Type != Rerank {
			continue
		}
		for _, r := range s.Reranked {
			seen[r.Result] = true
			out = append(out, r.Result)
		}
		break
	}
	for i := range n {
		if !seen[i] {
			out = append(out, i)
		}
	}
	return out
}

// size is about what a result takes in a record.
func size(r *retrieve.Result) int {
	n := len(r.Text) + len(r.DocumentMetadata) + len(r.PartMetadata) + len(r.DocumentID) + len(r.CorpusKey)
	if r.Table != nil {
		n += len(r.Table.Data) + len(r.Table.Title) + len(r.Table.Description)
	}
	return n + 100
}

package history

import (
	"context"
	"log/slog"
	"slices"
	"time"
	"unicode/utf8"

	"quarry/internal/clock"
	"quarry/internal/query/retrieve"
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
	r.Started = clock.Stored(r.Started)
	bound(r.Spans)
	if r.Generation != nil {
		short := cut(*r.Generation)
		r.Generation = &short
	}
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

// MaxBytes bounds what one record keeps of results, in bytes of their texts and metadata: a hundred candidates of some
// size, told again by each stage, would make a record of many megabytes. Results get half of it, what the stages made
// of them the rest, the last stage first; what does not fit is left out.
const MaxBytes = 2 << 20

// maxText bounds a prompt and an answer in a record, in bytes: what the end of a longer one says nobody reads here.
const maxText = 1 << 20

// cut gives the beginning of s, whole characters of it, with a mark where something is missing.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// bound cuts the spans of a record down to MaxBytes, and what was generated to maxText each.
func bound(spans []Span) {
	for i := range spans {
		spans[i].Prompt, spans[i].Generation = cut(spans[i].Prompt), cut(spans[i].Generation)
	}
	told := map[string]bool{} // texts that the record has: they are kept once
	total := 0
	fits := func(n, most int) bool {
		if total+n > most {
			return false
		}
		total += n
		return true
	}
	for i := range spans {
		spans[i].Results = slices.DeleteFunc(spans[i].Results, func(r retrieve.Result) bool {
			if !fits(size(&r), MaxBytes/2) {
				return true
			}
			told[r.Text] = true
			return false
		})
	}
	for i := len(spans) - 1; i >= 0; i-- { // what the last stage gave was the answer
		spans[i].Reranked = slices.DeleteFunc(spans[i].Reranked, func(r Reranked) bool {
			n := overhead
			if !told[r.Text] {
				n += len(r.Text)
			}
			if !fits(n, MaxBytes) {
				return true
			}
			told[r.Text] = true
			return false
		})
	}
}

// overhead is about what a result takes beside its texts.
const overhead = 100

// size is about what a result takes in a record.
func size(r *retrieve.Result) int {
	n := len(r.Text) + len(r.DocumentMetadata) + len(r.PartMetadata) + len(r.DocumentID) + len(r.CorpusKey)
	if r.Table != nil {
		n += len(r.Table.Data) + len(r.Table.Title) + len(r.Table.Description)
	}
	return n + overhead
}

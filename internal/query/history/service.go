package history

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"quarry/internal/clip"
	"quarry/internal/clock"
	"quarry/internal/query/retrieve"
	"quarry/internal/room"
)

// Service keeps the history. Safe for concurrent use.
type Service struct {
	Records
	store     Store
	retention time.Duration
	log       *slog.Logger
}

// New returns a service that keeps records for the retention time.
func New(s Store, retention time.Duration, log *slog.Logger) *Service {
	return &Service{s, s, retention, log}
}

// Save keeps r. An error is logged and not returned: the answer that r describes must not be lost with its record.
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

// expireStep is the number of records removed per step; it keeps the wait of other writes near ten milliseconds.
const expireStep = 100

// Run removes expired records until ctx ends. Several nodes may run it at once.
func (s *Service) Run(ctx context.Context) {
	room.Expire(ctx, s.Expire, func(err error, again time.Duration) {
		s.log.Warn("old queries stay in the history for now", "error", err, "again_in", again)
	})
}

// Expire removes the records that have expired by now, in small steps, and returns their number.
func (s *Service) Expire(ctx context.Context, now time.Time) (removed int, err error) {
	for {
		n, err := s.store.Expire(room.Freeing(ctx), now.Add(-s.retention), expireStep)
		removed += n
		if err != nil || n < expireStep {
			return removed, err
		}
	}
}

// MaxBytes bounds the results in one record, in bytes of their texts and metadata: a hundred large candidates, repeated by
// each stage, would take many megabytes. The results of the search get half of it and the stages the rest, the last stage
// first. What does not fit is left out.
const MaxBytes = 2 << 20

// maxText bounds a prompt and an answer in a record, in bytes. Nobody reads the end of a longer one here.
const maxText = 1 << 20

// cut returns s, shortened to maxText between characters and marked with an ellipsis if it is longer.
func cut(s string) string {
	if len(s) <= maxText {
		return s
	}
	return clip.Head(s, maxText) + "…"
}

// bound cuts the results of spans down to MaxBytes, and each prompt and answer to maxText.
func bound(spans []Span) {
	for i := range spans {
		spans[i].Prompt, spans[i].Generation = cut(spans[i].Prompt), cut(spans[i].Generation)
	}
	kept := map[string]bool{} // texts that the record has already; each is stored once
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
			kept[r.Text] = true
			return false
		})
	}
	for i := len(spans) - 1; i >= 0; i-- { // the output of the last stage was the answer
		spans[i].Reranked = slices.DeleteFunc(spans[i].Reranked, func(r retrieve.Reranked) bool {
			n := overhead
			if !kept[r.Text] {
				n += len(r.Text)
			}
			if !fits(n, MaxBytes) {
				return true
			}
			kept[r.Text] = true
			return false
		})
	}
}

// overhead estimates what a result takes besides its texts, in bytes.
const overhead = 100

// size estimates what a result takes in a record, in bytes.
func size(r *retrieve.Result) int {
	n := len(r.Text) + len(r.DocumentMetadata) + len(r.PartMetadata) + len(r.DocumentID) + len(r.CorpusKey)
	if r.Table != nil {
		n += len(r.Table.Data) + len(r.Table.Title) + len(r.Table.Description)
	}
	return n + overhead
}

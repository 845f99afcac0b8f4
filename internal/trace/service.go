package trace

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"quarry/internal/fault"
	"quarry/internal/page"
	"quarry/internal/room"
)

// NoTrace is the answer for a trace that there is not.
func NoTrace(id string) *fault.Fault {
	return fault.NotFound("trace_not_found", id, "trace %s does not exist, or its turn has not ended yet", id)
}

// NoSpan is the answer for a span that a trace does not have.
func NoSpan(trace, span string) *fault.Fault {
	return fault.NotFound("span_not_found", span, "trace %s has no span %s", trace, span)
}

func placeOf(started time.Time, no int64) *page.Position {
	return page.At(started, strconv.FormatInt(no, 10))
}

// Service reads traces and removes old ones. It is safe for concurrent use.
type Service struct {
	Records
	store Store
	keep  time.Duration
	log   *slog.Logger
}

// New returns a service that keeps traces for a time.
func New(s Store, keep time.Duration, log *slog.Logger) *Service { return &Service{s, s, keep, log} }

// List returns traces and whether more follow. See Records.
func (s *Service) List(ctx context.Context, l List) (found []Trace, more bool, err error) {
	if l.Shortest != nil && l.Longest != nil && *l.Shortest > *l.Longest {
		return nil, false, fault.InvalidField("max_duration_ms", "must be at least min_duration_ms, which is %d, not %d", *l.Shortest, *l.Longest)
	}
	return s.Records.List(ctx, l)
}

// expireStep is how many rows a step removes; it keeps the wait of other writes near ten milliseconds.
const expireStep = 100

// Run removes old traces until ctx ends. Several nodes may run it at once.
func (s *Service) Run(ctx context.Context) {
	room.Expire(ctx, s.Expire, func(err error, again time.Duration) {
		s.log.Warn("old traces are kept for now", "error", err, "again_in", again)
	})
}

// Expire removes what is older now than the service keeps it, in small steps, and returns how many traces and spans went.
func (s *Service) Expire(ctx context.Context, now time.Time) (removed int, err error) {
	for {
		n, err := s.store.Expire(room.Freeing(ctx), now.Add(-s.keep), expireStep)
		removed += n
		if err != nil || n == 0 {
			return removed, err
		}
	}
}

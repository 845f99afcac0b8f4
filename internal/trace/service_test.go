package trace_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/store/traces"
	"quarry/internal/trace"
)

var began = time.Date(2026, 5, 1, 7, 0, 0, 0, time.UTC)

// TestIDs proves that ids have the form of the contract, differ, and stand in the order of their times, before and behind those that
// mark a time.
func TestIDs(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 200 {
		all = append(all, trace.NewID(began.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(all) || len(slices.Compact(all)) != 200 {
		t.Error("ids are not in the order of their times")
	}
	for _, one := range all {
		if len(one) != 32 || strings.Trim(one, "0123456789abcdef") != "" {
			t.Errorf("the id %s", one)
		}
	}
	if span := trace.NewSpanID(); len(span) != 16 || strings.Trim(span, "0123456789abcdef") != "" || span == trace.NewSpanID() {
		t.Errorf("the id %s", span)
	}
	mark := trace.Oldest(began.Add(100 * time.Millisecond))
	if n, _ := slices.BinarySearch(all, mark); n != 100 {
		t.Errorf("%d ids come before the time of the 101st", n)
	}
}

// TestBackwards proves that durations that no trace can have are refused with the field.
func TestBackwards(t *testing.T) {
	t.Parallel()
	s := trace.New(traces.New(storetest.Open(t, store.Config{Dir: t.TempDir()}), nil), time.Hour, slog.New(slog.DiscardHandler))
	_, _, err := s.List(t.Context(), trace.List{Limit: 1, Shortest: new(int64(5)), Longest: new(int64(4)), Reader: trace.Reader{All: true}})
	if f, _ := fault.As(err); f == nil || f.Fields["max_duration_ms"] == "" {
		t.Errorf("%v", err)
	}
}

// TestRetention proves that traces live as long as the service keeps them, and that more than one step's worth go at once.
func TestRetention(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	rows := traces.New(db, nil)
	s := trace.New(rows, time.Hour, slog.New(slog.DiscardHandler))
	now := began.Add(time.Hour)
	var spans []trace.Span
	for i := range 250 {
		at := began.Add(-time.Duration(i) * time.Second)
		spans = append(spans, trace.Span{Trace: trace.NewID(at), ID: trace.NewSpanID(), Operation: trace.InvokeAgent, Started: at, Ended: at, Agent: trace.Subject{No: 1, Key: "a"}})
	}
	if err := db.Write(t.Context(), func(tx *store.Tx) error { rows.Write(tx, spans); return nil }); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Expire(t.Context(), now); n != 2*249 || err != nil {
		t.Errorf("%d traces and spans went, %v; want all but those of the last one", n, err)
	}
	left, _, err := s.List(t.Context(), trace.List{Limit: 10, Reader: trace.Reader{All: true}})
	if err != nil || len(left) != 1 || left[0].ID != spans[0].Trace {
		t.Errorf("left %v, %v", left, err)
	}
}

// asked is a store that notes what is to go, and removes nothing.
type asked struct {
	trace.Store
	before chan time.Time
}

func (a asked) Expire(_ context.Context, before time.Time, _ int) (int, error) {
	a.before <- before
	return 0, fault.Unavailable("full", "the disk is full")
}

// TestRun proves that traces older than they are kept are looked for at once and, while that fails, again, until the end.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := asked{before: make(chan time.Time)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		started := time.Now()
		go func() {
			defer close(done)
			trace.New(a, time.Hour, slog.New(slog.DiscardHandler)).Run(ctx)
		}()
		for _, seconds := range []int{0, 5, 15} {
			if got, want := (<-a.before).Sub(started), time.Duration(seconds)*time.Second-time.Hour; got != want {
				t.Errorf("traces of before %v are removed, want %v", got, want)
			}
		}
		cancel()
		<-done
	})
}

package history_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/id"
	"quarry/internal/query/history"
	"quarry/internal/query/retrieve"
	"quarry/internal/store"
	"quarry/internal/store/queries"
	"quarry/internal/store/storetest"
)

// open returns a service over a database of its own.
func open(t *testing.T, keep time.Duration) *history.Service {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	return history.New(queries.New(db), keep, slog.New(slog.DiscardHandler))
}

func record(started time.Time, spans ...history.Span) history.Record {
	return history.Record{
		Summary: history.Summary{ID: id.NewQuery(), Text: "q", Started: started}, Request: json.RawMessage(`{}`), Spans: spans,
	}
}

// TestBound proves that a record of a huge pool keeps the first results that fit, stores a text once however many stages
// repeat it, and leaves out one result that is too large rather than all behind it.
func TestBound(t *testing.T) {
	t.Parallel()
	s := open(t, time.Hour)
	search, first, second := history.Span{Type: history.Search}, history.Span{Type: history.Rerank}, history.Span{Type: history.Rerank}
	for i := range 1000 {
		text := fmt.Sprint(i, " ", strings.Repeat("text ", 1000))
		if i == 3 {
			text = strings.Repeat("x", history.MaxBytes)
		}
		search.Results = append(search.Results, retrieve.Result{
			Text: text, DocumentID: fmt.Sprint(i), DocumentMetadata: json.RawMessage(`{}`), PartMetadata: json.RawMessage(`{}`),
		})
		first.Reranked = append(first.Reranked, retrieve.Reranked{Text: text, Score: float64(i)})
	}
	for i := range 1000 {
		second.Reranked = append(second.Reranked, first.Reranked[999-i])
	}
	r := record(time.Now(), search, first, second)
	s.Save(t.Context(), r)
	got, err := s.Get(t.Context(), string(r.ID), history.Reader{All: true})
	if err != nil {
		t.Fatal(err)
	}
	total, texts := 0, map[string]bool{}
	for _, span := range got.Spans {
		for _, x := range span.Results {
			total += len(x.Text)
			texts[x.Text] = true
		}
		for _, x := range span.Reranked {
			if !texts[x.Text] {
				total += len(x.Text)
				texts[x.Text] = true
			}
		}
	}
	kept := got.Spans[0].Results
	if n := len(kept); n < 190 || n > 210 || kept[3].DocumentID != "4" || kept[n-1].DocumentID != fmt.Sprint(n) {
		t.Errorf("%d results are kept, the fourth is %s; want those of the first MiB without the large one", n, kept[3].DocumentID)
	}
	if last := got.Spans[2].Reranked; len(last) < 200 || last[0].Score != 999 {
		t.Errorf("%d results of the last stage are kept, want its first 200 and more", len(last))
	}
	if total > history.MaxBytes {
		t.Errorf("the record holds %d bytes of texts", total)
	}
}

// TestSmall proves that a record of usual size is kept whole.
func TestSmall(t *testing.T) {
	t.Parallel()
	s := open(t, time.Hour)
	r := record(time.Now(), history.Span{Type: history.Search, Results: make([]retrieve.Result, 100)}, history.Span{Type: history.Rerank, Reranked: make([]retrieve.Reranked, 100)})
	s.Save(t.Context(), r)
	got, err := s.Get(t.Context(), string(r.ID), history.Reader{All: true})
	if err != nil || len(got.Spans) != 2 || len(got.Spans[0].Results) != 100 || len(got.Spans[1].Reranked) != 100 {
		t.Errorf("%+v, %v; want two spans of 100", got, err)
	}
}

// TestLongAnswer proves that a prompt and an answer of many megabytes are cut between characters, and others are not.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, time.Hour)
	long := strings.Repeat("ä", 2<<20)
	for _, c := range []struct {
		text  string
		whole bool
	}{{"Every 500 hours.", true}, {long, false}} {
		r := record(time.Now(), history.Span{Type: history.Generation, Prompt: "x" + c.text, Generation: c.text})
		r.Generation = &c.text
		s.Save(t.Context(), r)
		got, err := s.Get(t.Context(), string(r.ID), history.Reader{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{*got.Generation, got.Spans[0].Generation, strings.TrimPrefix(got.Spans[0].Prompt, "x")} {
			begun, cut := strings.CutSuffix(text, "…")
			if cut == c.whole || len(text) > 1<<20+4 || !strings.HasPrefix(c.text, begun) {
				t.Errorf("%d bytes are kept of %d, cut %v", len(text), len(c.text), cut)
			}
		}
	}
}

// TestExpire proves that records live as long as the retention says, and that more than one step's worth go at once.
func TestExpire(t *testing.T) {
	t.Parallel()
	s := open(t, time.Hour)
	now := time.Now()
	for i := range 250 {
		s.Save(t.Context(), record(now.Add(-time.Hour-time.Duration(i+1)*time.Second)))
	}
	young := record(now.Add(-time.Hour + time.Second))
	s.Save(t.Context(), young)
	if n, err := s.Expire(t.Context(), now); n != 250 || err != nil {
		t.Errorf("%d went, %v; want 250", n, err)
	}
	left, _, err := s.List(t.Context(), history.List{Limit: 10, Reader: history.Reader{All: true}})
	if err != nil || len(left) != 1 || left[0].ID != young.ID {
		t.Errorf("left %v, %v; want the young one", left, err)
	}
}

// failing is a store whose writes fail.
type failing struct {
	history.Store
	expired chan time.Time
}

var errFull = errors.New("the disk is full")

func (failing) Save(context.Context, history.Record) error { return errFull }

func (f failing) Expire(_ context.Context, before time.Time, _ int) (int, error) {
	f.expired <- before
	return 0, errFull
}

// TestSaveFails proves that a record that can't be written is reported in the log, with its id, and nowhere else.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := record(time.Now())
	history.New(failing{}, time.Hour, slog.New(slog.NewTextHandler(&log, nil))).Save(t.Context(), r)
	if text := log.String(); !strings.Contains(text, string(r.ID)) || !strings.Contains(text, errFull.Error()) {
		t.Errorf("the log says %q", text)
	}
}

// TestRun proves that records older than the retention are looked for at once and, while that fails, again, until the end.
func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := failing{expired: make(chan time.Time)}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		started := time.Now()
		go func() {
			defer close(done)
			history.New(f, time.Hour, slog.New(slog.DiscardHandler)).Run(ctx)
		}()
		for _, seconds := range []int{0, 5, 15} {
			if got, want := (<-f.expired).Sub(started), time.Duration(seconds)*time.Second-time.Hour; got != want {
				t.Errorf("records of before %v are removed, want %v", got, want)
			}
		}
		cancel()
		<-done
	})
}

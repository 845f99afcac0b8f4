package attribute_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"quarry/internal/corpus"
	"quarry/internal/corpus/attribute"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
)

// process is one life of the program over the same rows and jobs.
func process(t *testing.T, w *fixture, jobs job.Store) (*attribute.Service, *job.Queue, func()) {
	t.Helper()
	q := job.New(job.Config{Store: jobs, Log: slog.New(slog.DiscardHandler), Alone: true})
	s := attribute.New(w, w, w, q)
	q.Handle(job.ReplaceFilterAttributes, s.Replace)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { q.Run(ctx); close(done) }()
	return s, q, func() { cancel(); <-done }
}

func request(t *testing.T, s *attribute.Service, all ...corpus.Attribute) id.Job {
	t.Helper()
	no, err := s.Request(t.Context(), attribute.Replacement{Corpus: "c", Attributes: all, By: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	return no
}

func ended(t *testing.T, q *job.Queue, no id.Job, state job.State, says ...string) job.Job {
	t.Helper()
	j, err := q.Wait(t.Context(), "", no)
	if err != nil || j.State != state {
		t.Fatalf("job: %+v, %v; want %s", j, err, state)
	}
	for _, text := range says {
		if !strings.Contains(j.Comment, text) {
			t.Errorf("comment %q lacks %q", j.Comment, text)
		}
	}
	return j
}

var (
	yearInt = corpus.Attribute{Name: "year", Level: "document", Type: "integer"}
	kindInt = corpus.Attribute{Name: "kind", Level: "part", Type: "integer"}
)

func TestReplace(t *testing.T) {
	// Proves that a replacement takes the whole list at once, in order of requests, and counts what does not fit.
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.add(`{"year":2021}`, `{"kind":"rule"}`, `{"kind":1}`)
		w.add(`{"year":"x"}`, `{"kind":2}`)
		s, q, stop := process(t, w, &jobtest.Memory{})
		defer stop()
		w.before = func(next corpus.Corpus) error {
			if now, _ := w.Get(t.Context(), "c"); now[0].SchemaVersion != next.SchemaVersion-1 {
				t.Errorf("version %d while %d is being made", now[0].SchemaVersion, next.SchemaVersion)
			}
			return nil
		}
		first, second := request(t, s, yearInt, kindInt), request(t, s, yearInt)
		j := ended(t, q, first, job.Completed, "2 filter attributes in use", "2 stored values do not fit and count as NULL (doc.year 1, part.kind 1)")
		if j.Type != job.ReplaceFilterAttributes || j.CreatedBy != "ann" || len(j.CorpusKeys) != 1 || j.CorpusKeys[0] != "c" {
			t.Errorf("job %+v", j)
		}
		ended(t, q, second, job.Completed, "1 filter attribute in use", "1 stored value does not fit")
		if w.corpus.SchemaVersion != 2 || len(w.corpus.Attributes) != 1 {
			t.Errorf("corpus %+v, want the second list under version 2", w.corpus)
		}
		ended(t, q, request(t, s), job.Completed, "0 filter attributes in use; every stored value fits")
	})
}

func TestReplaceRefusals(t *testing.T) {
	// Proves that a list that no corpus can have is refused before there is a job.
	t.Parallel()
	w := newWorld()
	s := attribute.New(w, w, w, job.New(job.Config{Store: &jobtest.Memory{}, Log: slog.New(slog.DiscardHandler)}))
	for path, bad := range map[string]corpus.Attribute{
		"filter_attributes[1].name":  yearInt,
		"filter_attributes[1].type":  {Name: "x", Level: "part", Type: "date"},
		"filter_attributes[1].level": {Name: "x", Level: "page", Type: "text"},
	} {
		_, err := s.Request(t.Context(), attribute.Replacement{Corpus: "c", Attributes: []corpus.Attribute{yearInt, bad}})
		if f, ok := fault.As(err); !ok || f.Fields[path] == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
	long := corpus.Attribute{Name: strings.Repeat("é", 65), Level: "part", Type: "text"}
	if _, err := s.Request(t.Context(), attribute.Replacement{Corpus: "c", Attributes: []corpus.Attribute{long}}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("a name of 65 characters: %v", err)
	}
	if _, err := s.Request(t.Context(), attribute.Replacement{Corpus: "none"}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no corpus: %v", err)
	}
}

func TestReplaceCrash(t *testing.T) {
	// Proves that a job that died before or after the switch is finished by the next process, with one switch in all.
	for name, before := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.add(`{"year":"x"}`, `{}`)
				jobs := &jobtest.Memory{}
				s, _, stop := process(t, w, jobs)
				reached := make(chan struct{})
				w.before = func(next corpus.Corpus) error {
					w.before = nil
					if !before { // the row is written, the rest of the process is not
						if _, err := w.ReplaceAttributes(t.Context(), 3, next.Attributes, next.SchemaVersion); err != nil {
							t.Error(err)
						}
					}
					close(reached)
					return errors.New("killed")
				}
				no := request(t, s, yearInt)
				<-reached
				stop()
				_, q, stop := process(t, w, jobs)
				defer stop()
				ended(t, q, no, job.Completed, "1 filter attribute in use", "doc.year 1")
				if w.corpus.SchemaVersion != 1 {
					t.Errorf("version %d, want one switch", w.corpus.SchemaVersion)
				}
			})
		})
	}
}

func TestReplaceMeanwhile(t *testing.T) {
	// Proves that a reset during the job does not end it, and that the end of the corpus does.
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s, q, stop := process(t, w, &jobtest.Memory{})
		defer stop()
		resets := 0
		w.before = func(corpus.Corpus) error {
			if resets++; resets < 3 {
				return fault.Conflict("corpus_changed", "reset meanwhile")
			}
			return nil
		}
		ended(t, q, request(t, s, yearInt), job.Completed)
		if resets != 3 || w.corpus.SchemaVersion != 1 {
			t.Errorf("%d tries, version %d", resets, w.corpus.SchemaVersion)
		}
		for _, err := range []error{fault.Conflict("corpus_changed", "deleted meanwhile"), fault.NotFound("corpus_not_found", "c", "deleted meanwhile")} {
			w.before = func(corpus.Corpus) error {
				w.mu.Lock()
				w.gone = true
				w.mu.Unlock()
				return err
			}
			ended(t, q, request(t, s, yearInt), job.Aborted)
			w.mu.Lock()
			w.gone = false
			w.mu.Unlock()
		}
		w.mu.Lock()
		w.gone, w.before = false, func(corpus.Corpus) error { return errors.New("the disk is slow") }
		w.mu.Unlock()
		no := request(t, s, kindInt)
		synctest.Wait()
		if j, err := q.Get(t.Context(), "", no); err != nil || j.State != job.WillRetry {
			t.Errorf("after a failure: %+v, %v", j, err)
		}
		w.before = nil
		ended(t, q, no, job.Completed)
	})
}

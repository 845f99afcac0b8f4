package job_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
)

// away is a store whose Claim can fail as in an outage.
type away struct {
	*jobtest.Memory
	gone atomic.Bool
}

func (a *away) Claim(ctx context.Context, types []job.Type, now time.Time, l job.Lease) (job.Job, bool, error) {
	if a.gone.Load() {
		return job.Job{}, false, errors.New("nobody is there")
	}
	return a.Memory.Claim(ctx, types, now, l)
}

// logged returns what a queue logs while test runs.
func logged(t *testing.T, store job.Store, h job.Handler, test func(*job.Queue)) string {
	var log bytes.Buffer
	q := job.New(job.Config{Store: store, Log: slog.New(slog.NewTextHandler(&log, nil))})
	q.Handle(kind, h)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	test(q)
	cancel()
	<-done
	return log.String()
}

// TestAwayLog proves that an hour without a database is one line in the log, and another when it is back.
func TestAwayLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &away{Memory: new(jobtest.Memory)}
		log := logged(t, store, func(context.Context, *job.Work) (string, error) { return "", nil }, func(*job.Queue) {
			for range 2 {
				store.gone.Store(true)
				time.Sleep(time.Hour)
				synctest.Wait()
				store.gone.Store(false)
				time.Sleep(time.Minute)
				synctest.Wait()
			}
		})
		if strings.Count(log, "can't be claimed") != 2 || strings.Count(log, "claimed again") != 2 {
			t.Errorf("%d lines:\n%.1000s", strings.Count(log, "\n"), log)
		}
	})
}

// TestTakenAwayLog proves that a job whose corpus is deleted is logged as taken away and not as failed, whatever error
// its handler returns.
func TestTakenAwayLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := new(jobtest.Memory)
		handler := func(context.Context, *job.Work) (string, error) {
			store.Abort("k", time.Now())
			return "", fault.Conflict("corpus_changed", "the corpus was reset")
		}
		var j id.Job
		log := logged(t, store, handler, func(q *job.Queue) {
			added, err := q.Enqueue(t.Context(), job.Request{Type: kind, Corpora: []string{"k"}})
			if err != nil {
				t.Fatal(err)
			}
			j = added.ID
			synctest.Wait()
		})
		if got, err := store.Get(t.Context(), "", j); err != nil || got.State != job.Aborted {
			t.Errorf("job %+v, %v", got, err)
		}
		if strings.Contains(log, "failed") || !strings.Contains(log, "taken away") {
			t.Error(log)
		}
	})
}

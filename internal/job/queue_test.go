package job_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/fault"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
)

const kind job.Type = "test"

// bubble is a queue over memory in a synctest bubble, whose clock moves only while everything waits.
type bubble struct {
	*testing.T
	store *jobtest.Memory
	queue *job.Queue
	stop  func() // returns when the queue has stopped
}

// inBubble runs test with a queue whose handler is h.
func inBubble(t *testing.T, h func(*bubble) job.Handler, test func(*bubble)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{T: t, store: new(jobtest.Memory)}
		b.start(h(b))
		test(b)
		b.stop()
	})
}

// start replaces the queue with a fresh one over the same store, as a restart of the process does.
func (b *bubble) start(h job.Handler) {
	b.queue = job.New(job.Config{Store: b.store, Log: slog.New(slog.DiscardHandler), Workers: 2})
	b.queue.Handle(kind, h)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.queue.Run(ctx)
	}()
	b.stop = func() {
		cancel()
		<-done
	}
}

func (b *bubble) enqueue(r job.Request) job.Job {
	b.Helper()
	r.Type = kind
	j, err := b.queue.Enqueue(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

func (b *bubble) wait(j job.Job) job.Job {
	b.Helper()
	j, err := b.queue.Wait(b.Context(), j.Account, j.ID)
	if err != nil {
		b.Fatal(err)
	}
	return j
}

// TestCompleted proves that a job runs with its input, and that Wait returns it completed in the same instant.
func TestCompleted(t *testing.T) {
	inBubble(t, func(*bubble) job.Handler {
		return func(_ context.Context, w *job.Work) (string, error) {
			var in struct{ N int }
			if err := w.Input(&in); err != nil || in.N != 7 {
				return "", errors.Join(fault.InvalidField("n", "is %d", in.N), err)
			}
			return "all done", nil
		}
	}, func(b *bubble) {
		before := time.Now()
		got := b.wait(b.enqueue(job.Request{Input: map[string]int{"N": 7}}))
		if got.State != job.Completed || got.Comment != "all done" || got.Attempt != 1 {
			b.Errorf("got %+v", got)
		}
		if waited := time.Since(before); waited != 0 {
			b.Errorf("waited for %v", waited)
		}
	})
}

// TestRetries proves that a job whose error may pass is tried ten times, with growing pauses of up to two minutes, and
// then fails; the text of the error stays in the log.
func TestRetries(t *testing.T) {
	var starts []time.Time
	inBubble(t, func(*bubble) job.Handler {
		return func(context.Context, *job.Work) (string, error) {
			starts = append(starts, time.Now())
			return "", errors.New("secret")
		}
	}, func(b *bubble) {
		got := b.wait(b.enqueue(job.Request{}))
		if got.State != job.Failed || got.Attempt != 10 || got.Comment != "internal error; the log of the service says more under the id of this job" {
			b.Errorf("got %+v", got)
		}
		if len(starts) != 10 {
			b.Fatalf("%d starts", len(starts))
		}
		step := time.Second
		for i := 1; i < len(starts); i++ {
			pause := starts[i].Sub(starts[i-1])
			if pause < step/2 || pause > step+time.Second { // a worker looks each second
				b.Errorf("pause %d is %v, want from %v to %v and a second", i, pause, step/2, step)
			}
			step = min(2*step, 2*time.Minute)
		}
	})
}

// TestOutage proves that a job outlasts a disk that is full for hours, and that its comment names the reason.
func TestOutage(t *testing.T) {
	full := true
	inBubble(t, func(*bubble) job.Handler {
		return func(context.Context, *job.Work) (string, error) {
			if full {
				return "", fault.Unavailable("storage_unavailable", "the disk is full")
			}
			return "done", nil
		}
	}, func(b *bubble) {
		j := b.enqueue(job.Request{})
		time.Sleep(time.Hour)
		synctest.Wait()
		got, err := b.queue.Get(b.Context(), j.Account, j.ID)
		if err != nil || got.State != job.WillRetry || got.Comment != "the disk is full" {
			b.Errorf("got %+v, %v", got, err)
		}
		full = false
		if got := b.wait(j); got.State != job.Completed {
			b.Errorf("got %+v", got)
		}
	})
}

// TestFailures proves that a permanent fault fails the job at once with its text, and a panic costs one attempt of its
// own job.
func TestFailures(t *testing.T) {
	panicked := false
	inBubble(t, func(*bubble) job.Handler {
		return func(_ context.Context, w *job.Work) (string, error) {
			if w.Job.Comment == "" && w.Job.Account == "panics" && !panicked {
				panicked = true
				panic("oh")
			}
			if w.Job.Account == "panics" {
				return "", nil
			}
			return "", fault.Conflict("corpus_changed", "the corpus was reset")
		}
	}, func(b *bubble) {
		got := b.wait(b.enqueue(job.Request{}))
		if got.State != job.Failed || got.Comment != "the corpus was reset" || got.Attempt != 1 {
			b.Errorf("got %+v", got)
		}
		got = b.wait(b.enqueue(job.Request{Account: "panics"}))
		if got.State != job.Completed || got.Attempt != 2 {
			b.Errorf("got %+v", got)
		}
	})
}

// TestHeartbeat proves that a handler that runs longer than its lease keeps it, and the job is not begun twice.
func TestHeartbeat(t *testing.T) {
	var starts atomic.Int32
	inBubble(t, func(*bubble) job.Handler {
		return func(ctx context.Context, _ *job.Work) (string, error) {
			starts.Add(1)
			select {
			case <-time.After(time.Hour):
				return "", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}, func(b *bubble) {
		if got := b.wait(b.enqueue(job.Request{})); got.State != job.Completed || starts.Load() != 1 {
			b.Errorf("%d starts, got %+v", starts.Load(), got)
		}
	})
}

// steps counts to ten, a checkpoint and a second each, from where it was left.
func steps(ctx context.Context, w *job.Work) (string, error) {
	var n int
	if _, err := w.Progress(&n); err != nil {
		return "", err
	}
	for ; n < 10; n++ {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if err := w.Save(ctx, n+1, "counting"); err != nil {
			return "", err
		}
	}
	return "counted", nil
}

// TestStopped proves that a job in progress when the service stops is put back without an attempt lost, and goes on
// from its checkpoint.
func TestStopped(t *testing.T) {
	inBubble(t, func(*bubble) job.Handler { return steps }, func(b *bubble) {
		j := b.enqueue(job.Request{})
		time.Sleep(3500 * time.Millisecond) // of the bubble's clock
		b.stop()
		got, err := b.queue.Get(b.Context(), "", j.ID)
		if err != nil || got.State != job.Queued || string(got.Progress) != "3" || got.Comment != "counting" || got.Attempt != 0 {
			b.Errorf("stopped: %+v, %v", got, err)
		}
		before := time.Now()
		b.start(steps)
		if got := b.wait(j); got.State != job.Completed || got.Comment != "counted" {
			b.Errorf("got %+v", got)
		}
		if took := time.Since(before); took != 7*time.Second {
			b.Errorf("the rest took %v, want 7s", took)
		}
	})
}

// TestDied proves that a job whose process died is resumed when its lease runs out; where the process was alone with
// the database, at once.
func TestDied(t *testing.T) {
	for _, alone := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			store := new(jobtest.Memory)
			q := job.New(job.Config{Store: store, Log: slog.New(slog.DiscardHandler), Alone: alone})
			q.Handle(kind, steps)
			j, err := q.Enqueue(t.Context(), job.Request{Type: kind})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			dead := job.Lease{No: j.No, Holder: "dead", Until: begun.Add(20 * time.Second)}
			if _, ok, err := store.Claim(t.Context(), []job.Type{kind}, begun, dead); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if err := store.Save(t.Context(), dead, job.Checkpoint{Progress: []byte("8")}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				q.Run(ctx)
			}()
			got, err := q.Wait(t.Context(), "", j.ID)
			if err != nil || got.State != job.Completed {
				t.Errorf("alone %v: %+v, %v", alone, got, err)
			}
			want := 22 * time.Second
			if alone {
				want = 2 * time.Second
			}
			if took := time.Since(begun); took != want {
				t.Errorf("alone %v: took %v, want %v", alone, took, want)
			}
			cancel()
			<-done
		})
	}
}

// TestAborted proves that deleting the corpus ends the handler's context at once after Refresh and at the next
// heartbeat without it, and that Wait returns the aborted job.
func TestAborted(t *testing.T) {
	for _, told := range []bool{true, false} {
		t.Run("", func(t *testing.T) {
			var ended time.Time
			inBubble(t, func(*bubble) job.Handler {
				return func(ctx context.Context, _ *job.Work) (string, error) {
					<-ctx.Done()
					ended = time.Now()
					return "", ctx.Err()
				}
			}, func(b *bubble) {
				j := b.enqueue(job.Request{Corpora: []string{"k"}})
				synctest.Wait()
				b.store.Abort("k", time.Now())
				aborted := time.Now()
				if told {
					b.queue.Refresh()
				}
				if got := b.wait(j); got.State != job.Aborted {
					b.Errorf("got %+v", got)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if after := ended.Sub(aborted); told && after != 0 || after > 10*time.Second {
					b.Errorf("told %v: the handler ended after %v", told, after)
				}
			})
		})
	}
}

// TestWaitGivesUp proves that Wait returns up with its context, and the job goes on.
func TestWaitGivesUp(t *testing.T) {
	inBubble(t, func(*bubble) job.Handler { return steps }, func(b *bubble) {
		j := b.enqueue(job.Request{})
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		defer cancel()
		if _, err := b.queue.Wait(ctx, "", j.ID); !errors.Is(err, context.DeadlineExceeded) {
			b.Errorf("error %v, want the deadline", err)
		}
		if got := b.wait(j); got.State != job.Completed {
			b.Errorf("got %+v", got)
		}
	})
}

// TestProgressCounts proves that a job that makes progress between its failures is not given up for the number of
// failures.
func TestProgressCounts(t *testing.T) {
	inBubble(t, func(*bubble) job.Handler {
		return func(ctx context.Context, w *job.Work) (string, error) {
			var n int
			if _, err := w.Progress(&n); err != nil {
				return "", err
			}
			if n == 30 {
				return "", nil
			}
			if err := w.Save(ctx, n+1, ""); err != nil {
				return "", err
			}
			return "", errors.New("each time")
		}
	}, func(b *bubble) {
		if got := b.wait(b.enqueue(job.Request{})); got.State != job.Completed {
			b.Errorf("got %+v", got)
		}
	})
}

package compact_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/index/compact"
)

// TestDue proves that a task runs when it is due, at the last time that was set, that its work says when it is due again, and
// that one set to never does not run.
func TestDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var ran []time.Duration
		next := []time.Duration{5 * time.Minute, 0}
		task := compact.NewScheduler(0).Task(func(context.Context, func() error) time.Time {
			ran = append(ran, time.Since(begin))
			n := next[0]
			next = next[1:]
			if n == 0 {
				return time.Time{}
			}
			return begin.Add(n)
		})
		task.At(begin.Add(time.Minute))
		task.At(begin.Add(2 * time.Minute))
		time.Sleep(time.Hour)
		task.At(begin.Add(61 * time.Minute))
		task.At(time.Time{})
		time.Sleep(time.Hour)
		if len(ran) != 2 || ran[0] != 2*time.Minute || ran[1] != 5*time.Minute {
			t.Errorf("ran at %v", ran)
		}
		task.Stop()
		task.At(time.Now())
		synctest.Wait()
		if len(ran) != 2 {
			t.Error("ran after it was stopped")
		}
	})
}

// TestAtOnce proves that two tasks run at once and no more, a task never beside itself, those that wait in order of their
// times, and that what was asked for while a task runs is done after it.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := compact.NewScheduler(0)
		var order []int
		running, most := 0, 0
		end := make(chan bool)
		var tasks []*compact.Task
		for i := range 4 {
			tasks = append(tasks, s.Task(func(context.Context, func() error) time.Time {
				order = append(order, i)
				running++
				most = max(most, running)
				<-end
				running--
				return time.Time{}
			}))
		}
		now := time.Now()
		for i, task := range tasks {
			task.At(now.Add(-time.Duration(i) * time.Second))
			synctest.Wait()
		}
		tasks[0].At(now.Add(-time.Hour)) // it runs: once more afterwards
		for range 5 {
			end <- true
			synctest.Wait()
		}
		if most != 2 || len(order) != 5 {
			t.Fatalf("%d at once, order %v", most, order)
		}
		if slices.Index(order, 3) > slices.Index(order, 2) {
			t.Errorf("order %v: 3 was due before 2", order)
		}
	})
}

// TestStop proves that stopping cancels a task that runs, also one that waits for searches, and returns after it.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := compact.NewScheduler(0)
		ended := false
		task := s.Task(func(_ context.Context, pause func() error) time.Time {
			for pause() == nil {
				time.Sleep(time.Millisecond)
			}
			ended = true
			return time.Now()
		})
		s.Begin()
		task.At(time.Now())
		time.Sleep(time.Second)
		task.Stop()
		if !ended {
			t.Error("still runs")
		}
	})
}

// TestYield proves that a merge waits for searches, within bounds, and does not wait where there are none.
func TestYield(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := compact.NewScheduler(0)
		var blocks atomic.Int32
		task := s.Task(func(_ context.Context, pause func() error) time.Time {
			for pause() == nil {
				time.Sleep(time.Millisecond) // a block of work
				blocks.Add(1)
			}
			return time.Time{}
		})
		task.At(time.Now())
		time.Sleep(time.Second)
		alone := blocks.Load()
		s.Begin()
		time.Sleep(time.Second)
		beside := blocks.Load() - alone
		s.End()
		time.Sleep(time.Second)
		after := blocks.Load() - beside - alone
		task.Stop()
		if alone < 990 || after < 980 || beside > alone/4 || beside < alone/10 {
			t.Errorf("%d blocks a second alone, %d beside a search without end, %d after it", alone, beside, after)
		}
	})
}

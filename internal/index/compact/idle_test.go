package compact

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdle proves that tasks for which nothing is due cost neither a goroutine nor a timer, however many there are: when what was
// due is done, when it is put off for good, and when they are stopped.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewScheduler(time.Minute)
		idle := func(when string) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.timer != nil || s.running != 0 || len(s.due) != 0 {
				t.Errorf("%s: timer %v, %d run, %d are due", when, s.timer != nil, s.running, len(s.due))
			}
		}
		ran := 0
		tasks := make([]*Task, 1000)
		for i := range tasks {
			tasks[i] = s.Task(func(context.Context, func() error) time.Time {
				ran++ // one at a time: no two are due at once
				return time.Time{}
			})
		}
		idle("made")
		for i, task := range tasks[:100] {
			task.At(time.Now().Add(time.Duration(i) * time.Second))
		}
		time.Sleep(time.Hour)
		idle("done")
		if ran != 100 {
			t.Errorf("%d ran", ran)
		}
		for _, task := range tasks {
			task.At(time.Now().Add(time.Hour))
			task.At(time.Time{})
		}
		idle("put off")
		for _, task := range tasks {
			task.At(time.Now().Add(time.Hour))
			task.Stop()
		}
		idle("stopped")
	})
}

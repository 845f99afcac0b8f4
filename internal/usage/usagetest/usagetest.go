// Package usagetest holds every usage.Store to the interface's comments, and has one in memory for tests of what counts.
// Only tests import it.
package usagetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"quarry/internal/usage"
)

var usageNow = time.Date(2026, 12, 31, 23, 59, 30, 0, time.UTC)

// used returns a sum of the window that at is in.
func used(scope string, s usage.Span, at time.Time, in, out int64) usage.Sum {
	begin, _ := s.Window(at)
	return usage.Sum{Scope: scope, Span: s, Begin: begin, Tokens: usage.Tokens{Input: in, Output: out}}
}

func sums(t *testing.T, s usage.Store, scope string, at time.Time) []usage.Sum {
	t.Helper()
	got, err := s.Sums(t.Context(), scope, at)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Conform holds stores to the interface's comments. open returns a store that is empty.
func Conform(t *testing.T, open func(testing.TB) usage.Store) {
	for name, test := range map[string]func(*testing.T, usage.Store){
		"token usage": testSums, "token usage at once": testAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

func wantSums(t *testing.T, got []usage.Sum, want ...usage.Sum) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b usage.Sum) bool { return a.Span < b.Span })); d != "" {
		t.Errorf("sums (-want +got):\n%s", d)
	}
}

// testSums proves that sums add up by scope and window, that scopes and neighbouring windows stay apart, and that
// old windows can be forgotten.
func testSums(t *testing.T, s usage.Store) {
	wantSums(t, sums(t, s, "llm/a", usageNow))
	first := []usage.Sum{
		used("llm/a", usage.Minute, usageNow, 10, 1), used("llm/a", usage.Day, usageNow, 10, 1), used("llm/a", usage.Month, usageNow, 10, 1),
		used("llm/ä ' %", usage.Day, usageNow, 1<<50, 2),
	}
	for range 2 {
		if err := s.Add(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	later := usageNow.Add(time.Minute) // another minute, day and month
	if err := s.Add(t.Context(), []usage.Sum{used("llm/a", usage.Minute, later, 5, 0)}); err != nil {
		t.Fatal(err)
	}
	wantSums(t, sums(t, s, "llm/a", usageNow),
		used("llm/a", usage.Minute, usageNow, 20, 2), used("llm/a", usage.Day, usageNow, 20, 2), used("llm/a", usage.Month, usageNow, 20, 2))
	wantSums(t, sums(t, s, "llm/ä ' %", usageNow), used("llm/ä ' %", usage.Day, usageNow, 1<<51, 4))
	wantSums(t, sums(t, s, "llm/a", later), used("llm/a", usage.Minute, later, 5, 0))
	if err := s.Forget(t.Context(), usage.Minute, later.Add(-30*time.Second)); err != nil {
		t.Fatal(err)
	}
	wantSums(t, sums(t, s, "llm/a", usageNow), used("llm/a", usage.Day, usageNow, 20, 2), used("llm/a", usage.Month, usageNow, 20, 2))
	wantSums(t, sums(t, s, "llm/a", later), used("llm/a", usage.Minute, later, 5, 0))
}

// testAtOnce proves that nothing is lost, and nobody waits for ever, when processes add to the same sums at once.
func testAtOnce(t *testing.T, s usage.Store) {
	const writers, each = 8, 10
	errs := make([]error, writers)
	var done sync.WaitGroup
	for i := range writers {
		done.Go(func() {
			for range each {
				var all []usage.Sum
				for scope := range 5 {
					all = append(all, used(fmt.Sprint("llm/", scope), usage.Day, usageNow, 1, int64(scope)))
				}
				if errs[i] = s.Add(t.Context(), all); errs[i] != nil {
					return
				}
			}
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	for scope := range 5 {
		name := fmt.Sprint("llm/", scope)
		wantSums(t, sums(t, s, name, usageNow), used(name, usage.Day, usageNow, writers*each, int64(writers*each*scope)))
	}
}

package usage_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/usage"
)

// arrivals lets requests enter a gate one after another and notes in which order they were let in.
type arrivals struct {
	gate  *usage.Gate
	mu    sync.Mutex
	order []string          // guarded by mu
	leave map[string]func() // guarded by mu
	left  map[string]error  // of those who were not let in; guarded by mu
}

func watch(b usage.Bounds) *arrivals {
	return &arrivals{gate: usage.NewGate(b), leave: map[string]func(){}, left: map[string]error{}}
}

// arrive sends a request of caller and returns when it is in, refused or in line.
func (a *arrivals) arrive(ctx context.Context, caller, name string, places int64) {
	a.come(ctx, a.gate.Enter, caller, name, places)
}

// comeBack is arrive for a request that was in before.
func (a *arrivals) comeBack(ctx context.Context, caller, name string, places int64) {
	a.come(ctx, a.gate.Again, caller, name, places)
}

func (a *arrivals) come(ctx context.Context, enter func(context.Context, string, int64) (func(), error), caller, name string, places int64) {
	go func() {
		leave, err := enter(ctx, caller, places)
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil {
			a.left[name] = err
			return
		}
		a.order = append(a.order, name)
		a.leave[name] = leave
	}()
	synctest.Wait()
}

func (a *arrivals) goes(name string) {
	a.mu.Lock()
	leave := a.leave[name]
	a.mu.Unlock()
	leave()
	synctest.Wait()
}

func (a *arrivals) want(t *testing.T, names ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if d := cmp.Diff(names, a.order); d != "" {
		t.Fatalf("let in (-want +got):\n%s", d)
	}
}

// why returns what kept a request out.
func (a *arrivals) why(name string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left[name]
}

func (a *arrivals) refused(t *testing.T, name string) {
	t.Helper()
	var r *usage.Refused
	if err := a.why(name); !errors.As(err, &r) || r.After < time.Second {
		t.Fatalf("%s: %v, want a refusal with a time to wait", name, err)
	}
}

func (a *arrivals) empty(t *testing.T) {
	t.Helper()
	if l := a.gate.Load(); l != (usage.Load{}) {
		t.Errorf("the gate still holds %+v", l)
	}
}

// TestGatePerCaller proves that a caller's requests beyond its places wait in their order, that those beyond the line
// are refused at once, and that another caller does not notice.
func TestGatePerCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 2, Waiting: 2, Wait: time.Minute, Noun: "queries"})
		for i := 1; i <= 5; i++ {
			a.arrive(t.Context(), "ann", fmt.Sprint("ann", i), 1)
		}
		a.arrive(t.Context(), "bob", "bob1", 1)
		a.want(t, "ann1", "ann2", "bob1")
		a.refused(t, "ann5")
		a.goes("ann2")
		a.want(t, "ann1", "ann2", "bob1", "ann3")
		a.goes("ann1")
		a.want(t, "ann1", "ann2", "bob1", "ann3", "ann4")
		for _, name := range []string{"ann3", "ann4", "bob1"} {
			a.goes(name)
		}
		a.empty(t)
	})
}

// TestGateTurns proves that callers take turns where a bound holds for all: a long line of one delays another by one
// request.
func TestGateTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 5, Total: 1, Waiting: 9, Wait: time.Hour, Noun: "queries"})
		for i := 1; i <= 4; i++ {
			a.arrive(t.Context(), "ann", fmt.Sprint("ann", i), 1)
		}
		a.arrive(t.Context(), "bob", "bob1", 1)
		a.arrive(t.Context(), "bob", "bob2", 1)
		a.arrive(t.Context(), "cy", "cy1", 1)
		want := []string{"ann1", "ann2", "bob1", "cy1", "ann3", "bob2", "ann4"}
		for i, name := range want {
			a.want(t, want[:i+1]...)
			a.goes(name)
		}
		a.empty(t)
	})
}

// TestGateNobodyPasses proves that a request for many places gets them although small ones keep coming, and that one
// which waits for places of its own caller holds up nobody else.
func TestGateNobodyPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 6, Total: 10, Waiting: 9, Wait: time.Hour, Noun: "bytes"})
		a.arrive(t.Context(), "ann", "ann4", 4)
		a.arrive(t.Context(), "ann", "ann5", 5) // beyond ann's own places
		a.arrive(t.Context(), "bob", "bob3", 3)
		a.arrive(t.Context(), "cy", "cy6", 6) // beyond the places of all
		a.arrive(t.Context(), "dee", "dee1", 1)
		a.want(t, "ann4", "bob3")
		a.goes("bob3")
		a.want(t, "ann4", "bob3", "cy6")
		a.goes("cy6")
		a.want(t, "ann4", "bob3", "cy6", "dee1")
		a.goes("ann4")
		a.want(t, "ann4", "bob3", "cy6", "dee1", "ann5")
		a.arrive(t.Context(), "eve", "eve99", 99) // takes what a caller may have
		a.goes("ann5")
		a.want(t, "ann4", "bob3", "cy6", "dee1", "ann5", "eve99")
		a.goes("eve99")
		a.goes("dee1")
		a.empty(t)
	})
}

// TestGateLeavers proves that a request which waits too long is refused, that a client that leaves gives its place in
// line back, and that whoever stood behind a leaver moves up.
func TestGateLeavers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 3, Total: 3, Waiting: 2, Wait: 10 * time.Second, Noun: "queries"})
		a.arrive(t.Context(), "ann", "ann2", 2)
		ctx, gone := context.WithCancel(t.Context())
		a.arrive(ctx, "bob", "big", 3)
		a.arrive(t.Context(), "bob", "small", 1)
		a.want(t, "ann2")
		gone()
		synctest.Wait()
		if err := a.why("big"); !errors.Is(err, context.Canceled) {
			t.Fatalf("the leaver gets %v", err)
		}
		a.want(t, "ann2", "small")
		began := time.Now()
		a.arrive(t.Context(), "ann", "late", 3)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		a.refused(t, "late")
		if waited := time.Since(began); waited != 10*time.Second {
			t.Errorf("it waited %s", waited)
		}
		a.goes("ann2")
		a.goes("small")
		a.empty(t)
	})
}

// TestGateAgain proves that requests that come back stand before the new ones of their caller, in their own order, and in
// turn with other callers; that neither a full line nor a long wait refuses them; and that they leave it with their context.
func TestGateAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 5, Total: 1, Waiting: 2, Wait: time.Second, Noun: "queries"})
		a.comeBack(t.Context(), "ann", "ann1", 1)
		a.arrive(t.Context(), "ann", "new1", 1)
		a.arrive(t.Context(), "ann", "new2", 1)
		a.comeBack(t.Context(), "ann", "ann2", 1)
		ctx, gone := context.WithCancel(t.Context())
		a.comeBack(ctx, "ann", "leaver", 1)
		a.comeBack(t.Context(), "ann", "ann3", 1)
		a.comeBack(t.Context(), "bob", "bob1", 1)
		a.arrive(t.Context(), "ann", "new3", 1)
		a.refused(t, "new3")
		gone()
		synctest.Wait()
		if err := a.why("leaver"); !errors.Is(err, context.Canceled) {
			t.Errorf("the leaver gets %v", err)
		}
		want := []string{"ann1", "ann2", "bob1", "ann3"}
		for i, name := range want {
			time.Sleep(time.Minute)
			synctest.Wait()
			a.want(t, want[:i+1]...)
			a.goes(name)
		}
		a.refused(t, "new1")
		a.refused(t, "new2")
		a.empty(t)
	})
	synctest.Test(t, func(t *testing.T) {
		a := watch(usage.Bounds{PerCaller: 1, Waiting: 9, Wait: time.Hour, Noun: "queries"})
		for _, name := range []string{"in", "new1", "new2"} {
			a.arrive(t.Context(), "ann", name, 1)
		}
		a.comeBack(t.Context(), "ann", "back", 1)
		for _, name := range []string{"in", "back", "new1", "new2"} {
			a.goes(name)
		}
		a.want(t, "in", "back", "new1", "new2")
		a.empty(t)
	})
}

// TestGateNoLine proves that without a line the request beyond the bound is refused at once and leaves nothing behind.
func TestGateNoLine(t *testing.T) {
	t.Parallel()
	g := usage.NewGate(usage.Bounds{PerCaller: 1, Total: 1, Noun: "queries"})
	leave, err := g.Enter(t.Context(), "ann", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, caller := range []string{"ann", "bob"} {
		if _, err := g.Enter(t.Context(), caller, 1); err == nil {
			t.Errorf("%s is let in", caller)
		}
	}
	if l := g.Load(); l != (usage.Load{Held: 1, Callers: 1}) {
		t.Errorf("the gate holds %+v", l)
	}
	leave()
	if l := g.Load(); l != (usage.Load{}) {
		t.Errorf("the gate holds %+v at the end", l)
	}
}

// TestGateAtOnce proves that under many callers who come, wait and leave at random no bound is ever exceeded and no
// place is lost.
func TestGateAtOnce(t *testing.T) {
	t.Parallel()
	b := usage.Bounds{PerCaller: 4, Total: 10, Waiting: 1000, Wait: time.Minute, Noun: "queries"}
	g := usage.NewGate(b)
	var all, over atomic.Int64
	var own [5]atomic.Int64
	var done sync.WaitGroup
	for i := range 64 {
		done.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for range 200 {
				who, places := r.IntN(len(own)), 1+r.Int64N(3)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(300))*time.Microsecond)
				leave, err := g.Enter(ctx, fmt.Sprint(who), places)
				if err == nil {
					if own[who].Add(places) > b.PerCaller || all.Add(places) > b.Total {
						over.Add(1)
					}
					if r.IntN(3) == 0 {
						<-ctx.Done()
					}
					all.Add(-places)
					own[who].Add(-places)
					leave()
				}
				cancel()
			}
		})
	}
	done.Wait()
	if over.Load() > 0 || g.Load() != (usage.Load{}) {
		t.Errorf("%d times too many were in; at the end it holds %+v", over.Load(), g.Load())
	}
}

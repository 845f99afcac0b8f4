package condition_test

import (
	"fmt"
	"sync"
	"testing"

	"quarry/internal/index/condition"
	"quarry/internal/index/layer"
)

// sets returns values of n segments.
func sets(n int) (out []*layer.Set) {
	for range n {
		out = append(out, layer.New(layer.NewSchema(nil, 1), nil))
	}
	return out
}

// ask returns the rows under a set and text, and whether they were evaluated.
func ask(c *condition.Cache, of *layer.Set, text string, rows ...uint64) (got []uint64, evaluated bool) {
	got = c.Rows(of, text, func() []uint64 {
		evaluated = true
		return rows
	})
	return got, evaluated
}

// A result is evaluated once for each segment and condition, until it is forgotten with its segment.
func TestRows(t *testing.T) {
	t.Parallel()
	c, of := condition.New(1<<20), sets(2)
	for round := range 2 {
		for i, set := range of {
			for k, text := range []string{"a", "b"} {
				got, evaluated := ask(c, set, text, uint64(2*i+k))
				if got[0] != uint64(2*i+k) || evaluated != (round == 0) || !c.Has(set, text) {
					t.Errorf("round %d, segment %d, %s: %v, evaluated %v", round, i, text, got, evaluated)
				}
			}
		}
	}
	if s := c.Stats(); s.Entries != 4 || s.Hits != 4 || s.Misses != 4 || s.Bytes < 4*8 || s.Evicted != 0 {
		t.Errorf("%+v", s)
	}
	c.Forget(of[0])
	c.Forget(of[0])
	if _, evaluated := ask(c, of[1], "a"); evaluated || c.Has(of[0], "a") || c.Stats().Entries != 2 {
		t.Errorf("after one segment was forgotten: %+v", c.Stats())
	}
	c.Forget(of[1])
	if s := c.Stats(); s.Entries != 0 || s.Bytes != 0 {
		t.Errorf("all forgotten: %+v", s)
	}
}

// The budget is never exceeded: what was not used for the longest time goes, and what is larger is not kept.
func TestBudget(t *testing.T) {
	t.Parallel()
	of := sets(1)[0]
	one := condition.New(1 << 20)
	ask(one, of, "a", 1, 2, 3)
	size := one.Stats().Bytes
	c := condition.New(3 * size)
	for _, text := range []string{"a", "b", "c", "a", "d"} {
		ask(c, of, text, 1, 2, 3)
	}
	if s := c.Stats(); !c.Has(of, "a") || c.Has(of, "b") || !c.Has(of, "c") || !c.Has(of, "d") || s.Evicted != 1 || s.Bytes != 3*size {
		t.Errorf("%+v", s)
	}
	ask(c, of, "large", make([]uint64, 1000)...)
	if s := c.Stats(); c.Has(of, "large") || s.Entries != 3 {
		t.Errorf("one larger than the budget: %+v", s)
	}
}

// Without a cache everything is evaluated.
func TestNone(t *testing.T) {
	t.Parallel()
	var c *condition.Cache
	of := sets(1)[0]
	for range 2 {
		if got, evaluated := ask(c, of, "a", 7); !evaluated || got[0] != 7 || c.Has(of, "a") {
			t.Errorf("%v, evaluated %v", got, evaluated)
		}
	}
	c.Forget(of)
	if s := c.Stats(); s != (condition.Stats{}) {
		t.Errorf("%+v", s)
	}
}

// Many at once get their own results, whatever is evicted and forgotten meanwhile.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	c, of := condition.New(3000), sets(4)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 2000 {
				set, text := (i+w)%len(of), i%7
				want := uint64(100*set + text)
				if got, _ := ask(c, of[set], fmt.Sprint(text), want); got[0] != want {
					t.Errorf("%d, want %d", got[0], want)
				}
				if i%50 == w {
					c.Forget(of[set])
				}
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Bytes > 3000 || s.Hits+s.Misses != 16_000 {
		t.Errorf("%+v", s)
	}
}

package metrics_test

import (
	"fmt"
	"testing"
	"time"

	"quarry/internal/metric"
	"quarry/internal/store"
	"quarry/internal/store/metrics"
	"quarry/internal/store/storetest"
)

// TestStore proves that the store of metrics keeps the promises of metric.Store on both databases. That its series are right, however
// far rows are merged and by how many nodes, is proved in package metric.
func TestStore(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(_ *testing.T, db *store.DB) *metrics.Store { return metrics.New(db) }, map[string]func(*testing.T, *metrics.Store){
		"again": testAgain, "waits": testWaits, "expire": testExpire, "steps": testSteps,
	})
}

const day = 24 * 60

// today is the minute in which the present day begins.
func today() int64 { return time.Now().Unix() / 60 / day * day }

// batch returns a batch that counts one event of a combination in each of some minutes.
func batch(no int64, written time.Time, labels metric.Combination, minutes ...int64) metric.Batch {
	var cells []metric.Cell
	for _, m := range minutes {
		cells = append(cells, metric.Cell{Minute: m, Sums: []uint64{1}})
	}
	return metric.Batch{ID: no, Written: written, Counted: []metric.Counted{{Family: "f", Labels: labels, Block: metric.Encode(0, 1, metric.Merge(cells))}}}
}

func add(t *testing.T, s *metrics.Store, all ...metric.Batch) {
	t.Helper()
	for _, b := range all {
		if err := s.Add(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// all runs a step until it is done and returns how often.
func all(t *testing.T, step func() (bool, error)) (steps int) {
	t.Helper()
	for more := true; more; steps++ {
		var err error
		if more, err = step(); err != nil {
			t.Fatal(err)
		}
	}
	return steps
}

func merge(t *testing.T, s *metrics.Store, before time.Time) int {
	t.Helper()
	return all(t, func() (bool, error) { return s.Merge(t.Context(), before) })
}

// count returns how much the blocks of a selection have, in all of their minutes.
func count(t *testing.T, s *metrics.Store, match func(metric.Combination) bool) (n uint64) {
	t.Helper()
	err := s.Read(t.Context(), metric.Selection{Family: "f", From: 0, To: today() + day, Match: match}, func(began int64, b metric.Block) error {
		cells, err := b.Decode(began)
		for _, c := range cells {
			n += c.Sums[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func is(c metric.Combination) func(metric.Combination) bool {
	return func(other metric.Combination) bool { return other == c }
}

const a, b metric.Combination = `[["a"]]`, `[["b"]]`

// testAgain proves that a batch which is written again counts once.
func testAgain(t *testing.T, s *metrics.Store) {
	one := batch(1, time.Now(), a, today(), today()+1)
	add(t, s, one, one, batch(2, time.Now(), b, today()))
	if n := count(t, s, nil); n != 3 {
		t.Errorf("%d are counted, want 3", n)
	}
	if n := count(t, s, is(a)); n != 2 {
		t.Errorf("%d are counted of one combination, want 2", n)
	}
}

// testWaits proves that Merge leaves younger batches as they are, so that they may be written again, and that Pack leaves later days.
func testWaits(t *testing.T, s *metrics.Store) {
	now := time.Now()
	young := batch(1, now, a, today()-1)
	add(t, s, young, batch(2, now.Add(-time.Minute), a, today()-1))
	merge(t, s, now)
	add(t, s, young)
	if n := count(t, s, nil); n != 2 {
		t.Errorf("%d are counted, want 2", n)
	}
	merge(t, s, now.Add(time.Second))
	for range 2 {
		all(t, func() (bool, error) { return s.Pack(t.Context(), time.Unix(today()*60, 0)) })
		if n := count(t, s, is(a)); n != 2 {
			t.Errorf("%d are counted, want 2", n)
		}
	}
}

// testExpire proves that days go once they had ended before the moment, packed or not, and that a combination which was forgotten
// counts again.
func testExpire(t *testing.T, s *metrics.Store) {
	now := time.Now()
	add(t, s, batch(1, now, a, today()-40*day, today()-39*day+7), batch(2, now, b, today()-33*day, today()-32*day, today()-31*day, today()))
	merge(t, s, now.Add(time.Second))
	all(t, func() (bool, error) { return s.Pack(t.Context(), time.Unix((today()-32*day)*60, 0)) })
	all(t, func() (bool, error) { return s.Expire(t.Context(), time.Unix((today()-31*day)*60, 0)) })
	if n := count(t, s, nil); n != 2 {
		t.Errorf("%d are left, want the last two days", n)
	}
	if n := count(t, s, is(b)); n != 2 {
		t.Errorf("%d of the second are left, want 2", n)
	}
	add(t, s, batch(3, now, a, today()))
	merge(t, s, now.Add(time.Second))
	if n := count(t, s, is(a)); n != 1 {
		t.Errorf("%d of the first are there, want 1", n)
	}
}

// testSteps proves that many combinations take several steps, none of which is lost.
func testSteps(t *testing.T, s *metrics.Store) {
	now := time.Now()
	big := metric.Batch{ID: 9, Written: now}
	for i := range 1500 {
		big.Counted = append(big.Counted, batch(0, now, metric.Combination(fmt.Sprintf(`[["c%04d"]]`, i)), today(), today()-day).Counted...)
	}
	add(t, s, big)
	if steps := merge(t, s, now.Add(time.Second)); steps < 2 {
		t.Errorf("merged in %d steps, want several", steps)
	}
	if steps := all(t, func() (bool, error) { return s.Pack(t.Context(), time.Unix(today()*60, 0)) }); steps < 2 {
		t.Errorf("packed in %d steps, want several", steps)
	}
	if n := count(t, s, nil); n != 3000 {
		t.Errorf("%d are counted, want 3000", n)
	}
	if n := count(t, s, func(metric.Combination) bool { return true }); n != 3000 {
		t.Errorf("%d are counted by combination, want 3000", n)
	}
}

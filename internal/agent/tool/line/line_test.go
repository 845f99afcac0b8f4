package line_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"quarry/internal/agent/tool/line"
)

// TestOrder proves that calls do their thing in the order in which they joined, whichever comes first, while some leave without
// doing it, twice, or because their context has ended.
func TestOrder(t *testing.T) {
	t.Parallel()
	var l line.Line
	var done sync.WaitGroup
	var order []int
	places := make([]*line.Place, 50)
	for i := range places {
		places[i] = l.Join()
	}
	over, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	want := []int{}
	for i := range slices.Backward(places) {
		switch {
		case i%5 == 1:
			places[i].Leave()
			places[i].Leave()
			continue
		case i%5 == 2 && i > 0:
			if err := places[i].Do(over, func() error { return nil }); !errors.Is(err, enough) {
				t.Errorf("%d: %v", i, err)
			}
			continue
		}
		want = append(want, i)
		done.Go(func() {
			if err := places[i].Do(t.Context(), func() error {
				order = append(order, i) // one at a time
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if slices.Reverse(want); !slices.Equal(order, want) {
		t.Errorf("the order was %v, want %v", order, want)
	}
	var none *line.Place
	if err := none.Do(over, func() error { return enough }); err != enough {
		t.Errorf("a call without a place: %v", err)
	}
}

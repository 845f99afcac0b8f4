package room_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/room"
)

// TestExpire proves that what has expired is removed at once and every ten minutes, and sooner after a failure, with pauses that double
// up to the ten minutes and begin anew after a success; that the pause reported is the one made, and that the calls free space.
func TestExpire(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("the disk is full")
		steps := []error{full, full, full, nil, nil, full, full, full, full, full, full, full, full, full, full, nil, nil}
		ctx, cancel := context.WithCancel(t.Context())
		var waited, reported []int // seconds
		before := time.Now()
		room.Expire(ctx, func(ctx context.Context, now time.Time) (int, error) {
			if !room.Frees(ctx) || !now.Equal(time.Now()) {
				t.Errorf("frees space %v, at %v", room.Frees(ctx), now)
			}
			waited = append(waited, int(now.Sub(before)/time.Second))
			before = now
			err := steps[0]
			if steps = steps[1:]; len(steps) == 0 {
				cancel()
			}
			return 0, err
		}, func(err error, again time.Duration) {
			if !errors.Is(err, full) {
				t.Error(err)
			}
			reported = append(reported, int(again/time.Second))
		})
		if diff := cmp.Diff([]int{0, 5, 10, 20, 600, 600, 5, 10, 20, 40, 80, 160, 320, 600, 600, 600, 600}, waited); diff != "" {
			t.Error("seconds between calls (-want +got):", diff)
		}
		if diff := cmp.Diff([]int{5, 10, 20, 5, 10, 20, 40, 80, 160, 320, 600, 600, 600}, reported); diff != "" {
			t.Error("pauses reported (-want +got):", diff)
		}
	})
}

// TestExpireEnds proves that a failure because the service stops is not reported.
func TestExpireEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	room.Expire(ctx, func(context.Context, time.Time) (int, error) {
		cancel()
		return 0, ctx.Err()
	}, func(err error, _ time.Duration) { t.Error(err) })
}

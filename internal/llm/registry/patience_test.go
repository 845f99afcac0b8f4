package registry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
)

// pinging is a provider that keeps its line alive, begins its answer after a while, and ends it after another.
type pinging struct{ begins, ends time.Duration }

// Stream implements llm.Provider.
func (p pinging) Stream(ctx context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	for _, wait := range []time.Duration{p.begins, p.ends} {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return llm.Answer{}, context.Cause(ctx)
		}
		if err := emit(llm.Event{Text: "word "}); err != nil {
			return llm.Answer{}, err
		}
	}
	return llm.Answer{Text: "word word "}, nil
}

// TestPatience proves that a model that says nothing of its answer for ten minutes beyond its idle timeout has timed out,
// however alive its line is, that one which has begun is given its time, and that a caller who leaves is told so.
func TestPatience(t *testing.T) {
	t.Parallel()
	left := errors.New("the client left")
	for name, c := range map[string]struct {
		p     pinging
		leave time.Duration
		want  error
	}{
		"never begins":     {pinging{24 * time.Hour, 0}, 48 * time.Hour, &llm.Error{Failure: llm.TimedOut}},
		"begins, and long": {pinging{10 * time.Minute, 24 * time.Hour}, 48 * time.Hour, nil},
		"left":             {pinging{24 * time.Hour, 0}, time.Minute, left},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(c.leave, func() { cancel(left) })
				_, err := llm.Complete(ctx, registry.NewModel(c.p), llm.Request{})
				var got, want *llm.Error
				if errors.As(c.want, &want) {
					if !errors.As(err, &got) || got.Failure != want.Failure {
						t.Errorf("got %v, want it timed out", err)
					}
				} else if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				cancel(nil)
			})
		})
	}
}

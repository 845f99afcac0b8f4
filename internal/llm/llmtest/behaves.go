package llmtest

import (
	"context"
	"errors"
	"testing"

	"quarry/internal/llm"
)

// Behaves holds any implementation to what needs no provider over the wire: its events sum to its answer, errors of the
// caller and ended contexts come back, calls at once do not meet. Every request must have an answer with a text.
func Behaves(t *testing.T, p llm.Provider, requests ...llm.Request) {
	t.Helper()
	if len(requests) == 0 {
		t.Fatal("there is nothing to ask")
	}
	first := make([]llm.Answer, len(requests))
	for i, r := range requests {
		answer, _ := must(t, p, r)
		if answer.Text == "" || answer.Reason == "" || answer.Usage.Output <= 0 {
			t.Errorf("request %d: got %+v", i, answer)
		}
		first[i] = answer
		if _, err := p.Stream(t.Context(), r, func(llm.Event) error { return errEnough }); err != errEnough { //nolint:errorlint // as it is
			t.Errorf("request %d: got %v, want the error of emit as it is", i, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errEnough)
		if _, err := p.Stream(ctx, r, ignore); !errors.Is(err, errEnough) {
			t.Errorf("request %d: got %v, want the cause of the context", i, err)
		}
	}
	done := make(chan error)
	const rounds = 8
	for range rounds {
		for i, r := range requests {
			go func() {
				answer, err := llm.Complete(t.Context(), p, r)
				if err == nil && answer.Text != first[i].Text {
					err = errors.New("asked again, it says something else: " + answer.Text)
				}
				done <- err
			}()
		}
	}
	for range rounds * len(requests) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

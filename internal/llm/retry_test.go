package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/llm"
)

// flaky fails as told before it answers.
type flaky struct {
	failures []error
	begun    bool // an event before each failure
	calls    *int
}

// Stream implements llm.Provider.
func (f flaky) Stream(_ context.Context, _ llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	n := *f.calls
	*f.calls++
	if n < len(f.failures) {
		if f.begun {
			_ = emit(llm.Event{Text: "half"})
		}
		return llm.Answer{}, f.failures[n]
	}
	return llm.Answer{Text: "done"}, emit(llm.Event{Text: "done"})
}

// retrying returns a provider that fails as told, behind the retries.
func retrying(f flaky, r llm.Retry) llm.Provider { return llm.Retrying(f, r) }

// TestRetry proves which failures are tried again, how often and after how long. The bubble's clock is exact.
func TestRetry(t *testing.T) {
	t.Parallel()
	busy, gone := &llm.Error{Failure: llm.Limited, Status: 429}, &llm.Error{Failure: llm.Broken, Status: 500}
	later := &llm.Error{Failure: llm.Limited, Status: 429, After: 7 * time.Second}
	never := &llm.Error{Failure: llm.Limited, Status: 429, After: time.Hour}
	rejected, half := &llm.Error{Failure: llm.Rejected, Status: 400}, &llm.Error{Failure: llm.Unreachable, Begun: true}
	other := errors.New("something else")
	r := llm.Retry{Max: 3, First: time.Second, Factor: 2, Most: 30 * time.Second}
	for _, c := range []struct {
		name     string
		failures []error
		begun    bool
		retry    llm.Retry
		calls    int
		took     time.Duration
		err      error
	}{
		{"at once", nil, false, r, 1, 0, nil},
		{"none by default", []error{busy}, false, llm.Retry{}, 1, 0, busy},
		{"backoff grows", []error{busy, gone, busy}, false, r, 4, 7 * time.Second, nil},
		{"up to the count", []error{busy, busy, busy, gone, busy}, false, r, 4, 7 * time.Second, gone},
		{"up to the longest wait", []error{busy, busy, busy}, false, llm.Retry{Max: 9, First: 20 * time.Second, Factor: 10, Most: 30 * time.Second}, 4, 80 * time.Second, nil},
		{"the provider's wish", []error{later}, false, r, 2, 7 * time.Second, nil},
		{"the provider's wish, bounded", []error{never}, false, r, 2, 30 * time.Second, nil},
		{"rejected", []error{rejected}, false, r, 1, 0, rejected},
		{"begun, as the adapter says", []error{half}, false, r, 1, 0, half},
		{"begun, as was seen", []error{busy}, true, r, 1, 0, busy},
		{"no failure of the model", []error{other}, false, r, 1, 0, other},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, began := 0, time.Now()
				_, err := llm.Complete(t.Context(), retrying(flaky{c.failures, c.begun, &calls}, c.retry), llm.Request{})
				if !errors.Is(err, c.err) || calls != c.calls || time.Since(began) != c.took {
					t.Errorf("%d calls in %v: %v; want %d in %v: %v", calls, time.Since(began), err, c.calls, c.took, c.err)
				}
			})
		})
	}
}

// TestRetryEnds proves that who leaves does not wait for the next call.
func TestRetryEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(left) })
		calls := 0
		p := retrying(flaky{[]error{&llm.Error{Failure: llm.TimedOut}}, false, &calls}, llm.Retry{Max: 1, First: time.Minute})
		if _, err := llm.Complete(ctx, p, llm.Request{}); !errors.Is(err, left) || calls != 1 {
			t.Errorf("%d calls: %v", calls, err)
		}
	})
}

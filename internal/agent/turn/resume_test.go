package turn_test

import (
	"context"
	"testing"

	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/llm"
)

// held is a model that reports each call, and fails where it may go on.
func held(asked chan<- struct{}, fail <-chan struct{}) model {
	return func(ctx context.Context, _ llm.Request, _ func(llm.Event) error) (llm.Answer, error) {
		asked <- struct{}{}
		select {
		case <-fail:
			return llm.Answer{}, &llm.Error{Failure: llm.Broken}
		case <-ctx.Done():
			return llm.Answer{}, context.Cause(ctx)
		}
	}
}

// send sends an input, whose sender reads in the background, and returns why the reading ended.
func (b *bench) send(t *testing.T, in turn.Input) <-chan error {
	t.Helper()
	sent, err := b.Send(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := told(t, sent)
		ended <- err
	}()
	return ended
}

// TestRefusedWhileResumed proves that whoever sends an input again hears why its turn has failed, like the first sender.
func TestRefusedWhileResumed(t *testing.T) {
	t.Parallel()
	asked, fail := make(chan struct{}, 1), make(chan struct{})
	b := begin(t, held(asked, fail), nil)
	in := b.input("How is it?")
	in.Parts[0].ExternalID = "x1"
	first := b.send(t, in)
	<-asked
	again := b.input("How is it?")
	again.Parts[0].ExternalID, again.Since = "x1", new(int64)
	second := b.send(t, again)
	close(fail)
	for _, ended := range []<-chan error{first, second} {
		if err := <-ended; !fault.Is(err, fault.KindUpstream) {
			t.Errorf("the reading ends with %v", err)
		}
	}
	if log := b.log(t); len(log) > 0 {
		t.Errorf("the log is %q", log)
	}
}

// TestQueuedInDeletedSession proves that the sender of an input that waits hears that the session was deleted.
func TestQueuedInDeletedSession(t *testing.T) {
	t.Parallel()
	asked, fail := make(chan struct{}, 1), make(chan struct{})
	b := begin(t, held(asked, fail), nil)
	first := b.send(t, b.input("How is it?"))
	<-asked
	next := b.input("And now?")
	next.Queue, next.Since = true, new(int64)
	queued := b.send(t, next)
	if err := b.rows.Delete(t.Context(), b.no); err != nil {
		t.Fatal(err)
	}
	close(fail)
	for _, ended := range []<-chan error{first, queued} {
		if err := <-ended; !fault.Is(err, fault.KindNotFound) {
			t.Errorf("the reading ends with %v", err)
		}
	}
}

package llmtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/scripted"
)

// errEnough is the caller's own.
var errEnough = errors.New("that is enough")

// ends proves that a call ends when its caller wants it to or the provider falls silent, and that the provider notices.
func (a Adapter) ends(t *testing.T) {
	for name, reply := range map[string]func(*scripted.Gate) scripted.Reply{
		"before the headers": func(g *scripted.Gate) scripted.Reply { return scripted.Reply{Pieces: long, Held: g} },
		"before the first":   func(g *scripted.Gate) scripted.Reply { return scripted.Reply{Pieces: long, First: g} },
		"between two":        func(g *scripted.Gate) scripted.Reply { return scripted.Reply{Pieces: long, Between: g} },
		"within the arguments": func(g *scripted.Gate) scripted.Reply {
			return scripted.Reply{Text: "So.", Calls: []scripted.Call{{ID: "c", Name: "find", Pieces: []string{"{", "}"}}}, Between: g}
		},
	} {
		t.Run("cancelled "+name, func(t *testing.T) {
			t.Parallel()
			a.cancelled(t, reply)
		})
		t.Run("silent "+name, func(t *testing.T) {
			t.Parallel()
			a.silent(t, reply)
		})
	}
	t.Run("emit", a.emit)
	t.Run("over before it began", a.over)
}

func (a Adapter) cancelled(t *testing.T, reply func(*scripted.Gate) scripted.Reply) {
	gate := scripted.NewGate()
	s := scripted.Start(t, reply(gate))
	p := a.open(t, s, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	done := during(ctx, p, question(), ignore)
	<-gate.Reached()
	cancel(errEnough)
	if err := <-done; !errors.Is(err, errEnough) {
		t.Errorf("got %v, want the cause of the context", err)
	}
	<-s.Last().Gone // the provider sees it, or the test does not end
}

// silent proves the idle timeout: the gate never opens.
func (a Adapter) silent(t *testing.T, reply func(*scripted.Gate) scripted.Reply) {
	idle := 50 * time.Millisecond
	if a.renews() {
		idle = time.Second // the token endpoint, which must not seem silent, has as long
	}
	var s *scripted.Server
	var h *heard
	var err error
	for s == nil || s.Last() == nil { // on a busy machine the time is over before the call has arrived
		s = scripted.Start(t, reply(scripted.NewGate()))
		_, h, err = run(t, a.open(t, s, func(c *registry.Connection) { c.Idle = idle }), question())
		idle *= 4
	}
	e := a.failed(t, err, llm.TimedOut)
	if emitted := h.text.Len() > 0; e.Begun != emitted {
		t.Errorf("begun is %v, something was emitted: %v", e.Begun, emitted)
	}
	<-s.Last().Gone
}

// emit proves that an error of the caller's ends the call and comes back as it is.
func (a Adapter) emit(t *testing.T) {
	t.Parallel()
	s := scripted.Start(t, scripted.Reply{Pieces: long, Between: scripted.NewGate()})
	_, err := a.open(t, s, nil).Stream(t.Context(), question(), func(llm.Event) error { return errEnough })
	if err != errEnough { //nolint:errorlint // as it is
		t.Errorf("got %v, want the error of emit as it is", err)
	}
	<-s.Last().Gone
}

func (a Adapter) over(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	s := scripted.Start(t)
	if _, err := a.open(t, s, nil).Stream(ctx, question(), ignore); !errors.Is(err, errEnough) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

// many proves that one provider serves many calls at once, each its own answer. It is worth most under the race
// detector.
func (a Adapter) many(t *testing.T) {
	t.Parallel()
	p := a.open(t, scripted.Start(t), func(c *registry.Connection) { c.Model = "echo" })
	done := make(chan error)
	const calls = 24
	for i := range calls {
		go func() {
			want := fmt.Sprintf("question %d of many", i)
			answer, err := llm.Complete(t.Context(), p, llm.Request{Messages: []llm.Message{llm.Text(llm.User, want)}})
			if err == nil && answer.Text != want {
				err = fmt.Errorf("got %q, want %q", answer.Text, want)
			}
			done <- err
		}()
	}
	for range calls {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

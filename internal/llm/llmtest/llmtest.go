// Package llmtest tests implementations of llm.Provider. Run is for adapters of a wire format, which call a scripted provider;
// Behaves is for any implementation, such as the embedded generator. Tests of
// packages below provider call it; it is no part of the product.
package llmtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider/scripted"
)

// Adapter is a wire format.
type Adapter struct {
	Type registry.Type
	Path string         // of the connection's uri, below the address of the scripted provider
	Auth *registry.Auth // nil: a bearer token
	Dial func(t testing.TB, s *scripted.Server) registry.Dialer

	// What the format itself cannot tell.
	ParsedArguments bool // arguments of calls come parsed, so cut off ones are lost
	NoReasoning     bool // tokens of reasoning are not counted apart
	NoThoughts      bool // what the model thinks does not come
	NoRefusal       bool // a refusal has no text
	NoCallID        bool // calls are told apart by their place
}

// Secret is the token of a connection that an adapter says nothing else of.
const Secret = "sk-conformance-0123456789abcdef"

// patience is the silence that a provider is allowed where a test is not about it; a test that reaches it fails.
const patience = 20 * time.Second

// Run holds an adapter to what llm.Provider promises.
func Run(t *testing.T, a Adapter) {
	t.Run("answers", a.answers)
	t.Run("requests", a.requests)
	t.Run("images", a.images)
	t.Run("forged state", a.forged)
	t.Run("failures", a.failures)
	t.Run("ends", a.ends)
	t.Run("many", a.many)
	t.Run("partial", a.partial)
	t.Run("again", a.again)
	t.Run("rounds", a.rounds)
}

// open returns the provider of a model.
func (a Adapter) open(t *testing.T, s *scripted.Server, set func(*registry.Connection)) llm.Provider {
	t.Helper()
	c := registry.Connection{Name: "registered", Type: a.Type, Model: "m", URI: s.URL + a.Path, Auth: a.Auth, Idle: patience}
	if c.Auth == nil {
		c.Auth = &registry.Auth{Type: registry.Bearer, Token: Secret}
	}
	if set != nil {
		set(&c)
	}
	p, err := a.Dial(t, s).Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// question returns the request of tests to which the question does not matter.
func question() llm.Request {
	return llm.Request{Messages: []llm.Message{llm.Text(llm.System, "Be short."), llm.Text(llm.User, "Why is the moon round?")}}
}

// heard is what a call emitted.
type heard struct {
	text, thoughts strings.Builder
	calls          []llm.ToolCall
	texts          int
	wrong          string
}

func (h *heard) take(e llm.Event) error {
	members := 0
	if e.Text != "" {
		members++
		h.texts++
		h.text.WriteString(e.Text)
		if len(h.calls) > 0 {
			h.wrong = "a text came behind a call that was made after it"
		}
	}
	if e.Reasoning != "" {
		members++
		h.thoughts.WriteString(e.Reasoning)
	}
	if e.Call != nil {
		members++
		h.calls = append(h.calls, *e.Call)
	}
	if members != 1 {
		h.wrong = "an event has not exactly one member"
	}
	return nil
}

// run calls p and checks the events against the answer.
func run(t *testing.T, p llm.Provider, r llm.Request) (llm.Answer, *heard, error) {
	t.Helper()
	h := &heard{}
	answer, err := p.Stream(t.Context(), r, h.take)
	h.agree(t, answer, err)
	return answer, h, err
}

func (h *heard) agree(t *testing.T, answer llm.Answer, err error) {
	t.Helper()
	if h.wrong != "" {
		t.Error(h.wrong)
	}
	if err != nil {
		return
	}
	if h.text.String() != answer.Text {
		t.Errorf("the events hold %q, the answer %q", h.text.String(), answer.Text)
	}
	if h.thoughts.String() != answer.Reasoning {
		t.Errorf("the events hold the thoughts %q, the answer %q", h.thoughts.String(), answer.Reasoning)
	}
	if len(h.calls) != len(answer.Calls) {
		t.Errorf("the events hold %d calls, the answer %d", len(h.calls), len(answer.Calls))
	}
	for i, c := range answer.Calls {
		if i < len(h.calls) && (h.calls[i].ID != c.ID || h.calls[i].Name != c.Name || string(h.calls[i].Arguments) != string(c.Arguments)) {
			t.Errorf("call %d: the event holds %+v, the answer %+v", i, h.calls[i], c)
		}
	}
}

// must is run for calls that must succeed.
func must(t *testing.T, p llm.Provider, r llm.Request) (llm.Answer, *heard) {
	t.Helper()
	answer, h, err := run(t, p, r)
	if err != nil {
		t.Fatal(err)
	}
	return answer, h
}

// during calls p in the background and sends the error to the channel.
func during(ctx context.Context, p llm.Provider, r llm.Request, emit func(llm.Event) error) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.Stream(ctx, r, emit)
		done <- err
	}()
	return done
}

func ignore(llm.Event) error { return nil }

func ref[T any](v T) *T { return &v }

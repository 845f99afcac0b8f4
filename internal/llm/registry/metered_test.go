package registry_test

import (
	"errors"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

func use(t *testing.T, n *node, name string) *llm.Model {
	t.Helper()
	m, err := n.Model(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func call(t *testing.T, p llm.Provider, text string) error {
	t.Helper()
	_, err := llm.Complete(t.Context(), p, llm.Request{Messages: []llm.Message{llm.Text(llm.User, text)}})
	return err
}

// wantRefused proves that err is a 429 without Retry-After whose text names the model, the bound and the seconds.
func wantRefused(t *testing.T, err error, quota string) {
	t.Helper()
	f, ok := fault.As(err)
	if !ok || f.Kind != fault.KindLimited || f.RetryAfter != 0 {
		t.Fatalf("%v is no refusal by a quota", err)
	}
	for _, want := range []string{`"local"`, quota, " seconds"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%q lacks %q", f.Text, want)
		}
	}
	var r *usage.Refused
	if !errors.As(err, &r) || r.Text != f.Text || r.After <= 0 {
		t.Errorf("the cause is %+v", r)
	}
}

// TestQuotas proves that each call counts what the provider says it used, and that a model whose quota is used up
// refuses before anything is sent, whoever asks for it and by whatever name.
func TestQuotas(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o")[0]
	n.dialer.answer = func(registry.Connection, llm.Request) (llm.Answer, error) {
		return llm.Answer{Text: "x", Usage: llm.Usage{Input: 6, Cached: 5, Output: 4, Reasoning: 3}}, nil
	}
	create(t, n, func(c *registry.Create) { c.Default, c.Budget.InputPerMonth = true, 12 })
	for range 2 {
		if err := call(t, use(t, n, "local"), "hi"); err != nil {
			t.Fatal(err)
		}
	}
	sent := len(n.dialer.called)
	for _, name := range []string{"local", "gpt-4o", ""} {
		wantRefused(t, call(t, use(t, n, name), "hi"), "input_tokens_per_month")
		wantRefused(t, use(t, n, name).Admit(t.Context()), "input_tokens_per_month")
	}
	if len(n.dialer.called) != sent {
		t.Error("a refused call was sent")
	}
	p := registry.Patch{Budget: map[string]opt.Field[int64]{"requests_per_second": some(int64(5))}}
	if _, err := n.Update(t.Context(), "local", p); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, use(t, n, "local").Admit(t.Context()), "input_tokens_per_month")
}

// TestRequestsPerSecond proves the bound, that Admit takes the place of the one call that follows, and that a change of
// something else does not fill the bucket.
func TestRequestsPerSecond(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	create(t, n, func(c *registry.Create) { c.Budget.RequestsPerSecond = 2 })
	m := use(t, n, "local")
	for range 3 {
		if err := m.Admit(t.Context()); err != nil {
			t.Fatal("admitted once, refused again: ", err)
		}
	}
	if err := call(t, m, "hi"); err != nil {
		t.Fatal(err)
	}
	if err := call(t, m, "hi"); err != nil {
		t.Fatal("the second of two in a second: ", err)
	}
	if _, err := n.Update(t.Context(), "local", registry.Patch{Description: some("other")}); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, use(t, n, "local").Admit(t.Context()), "requests_per_second")
}

// TestUsageIsEstimated proves that a call counts where the provider says nothing of tokens, also when it broke off after
// the answer had begun, and not when it was never answered.
func TestUsageIsEstimated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		text    string
		err     error
		counted bool
	}{
		{"whole", "sixteen letters.", nil, true},
		{"refused", "", &llm.Error{Failure: llm.Rejected, Status: 400}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := nodes(t, 1)[0]
			create(t, n, func(c *registry.Create) { c.Budget.InputPerMonth, c.Budget.OutputPerMonth = 25, 1_000 })
			n.dialer.answer = nil
			n.dialer.fail = c.err
			m := use(t, n, "local")
			a, err := llm.Complete(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Text(llm.User, strings.Repeat("word", 21)), llm.Text(llm.User, "é")}})
			if (err != nil) != (c.err != nil) {
				t.Fatal(err)
			}
			if c.counted && (!a.Usage.Estimated || a.Usage.Input != 21+1+16+2*8) {
				t.Errorf("estimated: %+v", a.Usage)
			}
			if err := m.Admit(t.Context()); (err != nil) != c.counted {
				t.Errorf("after the call: %v", err)
			}
		})
	}
}

// TestBrokenOffCounts proves that what was emitted before a call broke off counts.
func TestBrokenOffCounts(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	create(t, n, func(c *registry.Create) { c.Budget.OutputPerMonth = 1 })
	m := use(t, n, "local")
	left := errors.New("the client left")
	_, err := m.Stream(t.Context(), llm.Request{Messages: []llm.Message{llm.Text(llm.User, "hi")}}, func(llm.Event) error { return left })
	if !errors.Is(err, left) {
		t.Fatal(err)
	}
	wantRefused(t, m.Admit(t.Context()), "output_tokens_per_month")
}

// TestAlternationIsApplied proves that a model that requires it gets messages in turn, and that others get them as they
// are.
func TestAlternationIsApplied(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	yes := true
	create(t, n, nil)
	create(t, n, func(c *registry.Create) { c.Name, c.Capabilities.RequiresRoleAlternation = "strict", &yes })
	for name, want := range map[string]int{"local": 2, "strict": 1} {
		r := llm.Request{Messages: []llm.Message{llm.Text(llm.User, "a"), llm.Text(llm.User, "b")}}
		if _, err := llm.Complete(t.Context(), use(t, n, name), r); err != nil {
			t.Fatal(err)
		}
		if got := len(n.dialer.last.Messages); got != want {
			t.Errorf("%s got %d messages, want %d", name, got, want)
		}
	}
}

package registry_test

import (
	"testing"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/usage"
)

// used returns the seven quotas of a model by name, and the model that they are of.
func used(t *testing.T, n *node, ref string) (string, map[string]usage.Used) {
	t.Helper()
	u, err := n.Used(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]usage.Used{}
	for _, q := range u.Quotas {
		out[q.Limit] = q
		if q.End.Before(u.At) {
			t.Errorf("%s ends %s before the present", q.Limit, u.At.Sub(q.End))
		}
	}
	if len(out) != 7 || len(u.Quotas) != 7 {
		t.Errorf("%d quotas: %v", len(u.Quotas), out)
	}
	return u.Model.Name, out
}

// TestUsed proves what is reported of a model: limits, what calls have used, under its id, its name and an alias; of one
// without limits and of the embedded one; and that a bound that was changed begins anew.
func TestUsed(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o")[0]
	n.dialer.answer = func(registry.Connection, llm.Request) (llm.Answer, error) {
		return llm.Answer{Text: "x", Usage: llm.Usage{Input: 6, Output: 4}}, nil
	}
	if name, q := used(t, n, "gpt-4o"); name != registry.Embedded || q["input_tokens_per_day"].Used != 0 {
		t.Errorf("the alias of the embedded model: %s, %+v", name, q)
	}
	made := create(t, n, func(c *registry.Create) {
		c.Default, c.Budget = true, usage.Budget{RequestsPerSecond: 5, Quota: usage.Quota{InputPerDay: 100, OutputPerMonth: 50}}
	})
	if _, q := used(t, n, "local"); q["requests_per_second"].Used != 0 || q["requests_per_second"].Most != 5 {
		t.Errorf("before a call: %+v", q)
	}
	before := time.Now()
	if err := call(t, use(t, n, "local"), "hi"); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{string(made.ID), "local", "gpt-4o"} {
		name, q := used(t, n, ref)
		in, out, calls := q["input_tokens_per_day"], q["output_tokens_per_month"], q["requests_per_second"]
		if name != "local" || in.Most != 100 || in.Used != 6 || out.Most != 50 || out.Used != 4 || q["input_tokens_per_month"].Used != 6 {
			t.Errorf("%s is %s: %+v", ref, name, q)
		}
		if !calls.Counted || calls.Used > 1 || time.Since(before) < 200*time.Millisecond && calls.Used != 1 {
			t.Errorf("%s: calls %+v", ref, calls)
		}
	}
	if _, err := n.Update(t.Context(), "local", registry.Patch{Budget: map[string]opt.Field[int64]{"requests_per_second": some(int64(7))}}); err != nil {
		t.Fatal(err)
	}
	if _, q := used(t, n, "local"); q["requests_per_second"].Used != 0 || q["requests_per_second"].Most != 7 || q["input_tokens_per_day"].Used != 6 {
		t.Errorf("after a change of the bound: %+v", q)
	}
	if err := call(t, use(t, n, registry.Embedded), "hi"); err != nil {
		t.Fatal(err)
	}
	if _, q := used(t, n, registry.Embedded); q["input_tokens_per_day"].Used == 0 || q["input_tokens_per_day"].Most != 0 || q["requests_per_second"].Counted {
		t.Errorf("the embedded model: %+v", q)
	}
	if _, err := n.Used(t.Context(), "nobody"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("an unknown model: %v", err)
	}
}

package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/usage"
)

// TestListOfModels proves the order, the pages over both kinds of models, what overrides what, and the one default.
func TestListOfModels(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o", "mini")[0]
	wantList(t, n, registry.List{Limit: 10}, registry.Embedded, "gpt-4o", "mini")
	create(t, n, func(c *registry.Create) { c.Name = "one" })
	create(t, n, func(c *registry.Create) { c.Name, c.Description = "mini", "my own" })
	for limit := 1; limit < 6; limit++ {
		wantList(t, n, registry.List{Limit: limit}, "mini", "one", registry.Embedded, "gpt-4o")
	}
	create(t, n, func(c *registry.Create) { c.Name, c.Default = "two", true })
	wantList(t, n, registry.List{Limit: 2}, "two!", "mini", "one", registry.Embedded, "gpt-4o")
	wantList(t, n, registry.List{Limit: 2, Match: regexp.MustCompile(`answered by two|own$`)}, "mini", "gpt-4o")
	if _, err := n.Update(t.Context(), "one", registry.Patch{Default: some(true)}); err != nil {
		t.Fatal(err)
	}
	wantList(t, n, registry.List{Limit: 10}, "two", "mini", "one!", registry.Embedded, "gpt-4o")
	create(t, n, func(c *registry.Create) { c.Name = registry.Embedded })
	if err := n.Delete(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	wantList(t, n, registry.List{Limit: 10}, registry.Embedded+"!", "two", "mini", "gpt-4o")
}

// TestRefs proves that a model is found by id before name, and the customer's before the platform's.
func TestRefs(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o")[0]
	first := create(t, n, func(c *registry.Create) { c.Name = "a/b" })
	second := create(t, n, func(c *registry.Create) { c.Name = string(first.ID) })
	own := create(t, n, func(c *registry.Create) { c.Name = "gpt-4o" })
	for ref, want := range map[string]string{
		"a/b": string(first.ID), string(first.ID): string(first.ID), string(second.ID): string(second.ID), "gpt-4o": string(own.ID),
		registry.Embedded: "llm_extractive-1.0", "llm_alias_gpt-4o": "llm_alias_gpt-4o", "nobody": "404", "": "404",
	} {
		got, err := n.Get(t.Context(), ref)
		if fault.Is(err, fault.KindNotFound) {
			got.ID, err = "404", nil
		}
		if err != nil || string(got.ID) != want {
			t.Errorf("%q is %s, %v; want %s", ref, got.ID, err, want)
		}
	}
}

// TestPlatformModels proves that what belongs to the platform tells what it is and can't be changed.
func TestPlatformModels(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o")[0]
	for _, ref := range []string{registry.Embedded, "llm_extractive-1.0", "gpt-4o", "llm_alias_gpt-4o"} {
		if _, err := n.Update(t.Context(), ref, registry.Patch{}); !fault.Is(err, fault.KindForbidden) {
			t.Errorf("update %s: %v", ref, err)
		}
		if err := n.Delete(t.Context(), ref); !fault.Is(err, fault.KindForbidden) {
			t.Errorf("delete %s: %v", ref, err)
		}
	}
	built, err := n.Get(t.Context(), registry.Embedded)
	if err != nil || !built.Default || !built.Enabled || !strings.Contains(built.Description, "quotes") || !strings.Contains(built.Description, "does not write") {
		t.Errorf("%+v, %v", built, err)
	}
	create(t, n, func(c *registry.Create) { c.Default, c.Model, c.Type = true, "gpt-4.1", registry.Responses })
	alias, err := n.Get(t.Context(), "gpt-4o")
	if err != nil || alias.Default || !strings.Contains(alias.Description, "local") || alias.Model != "gpt-4.1" || alias.Can().Context != 1_047_576 {
		t.Errorf("%+v, %v", alias, err)
	}
}

// TestConnectionTest proves that a model that does not answer is neither registered nor changed, that the refusal tells
// why and holds no secret, and that only a change that leaves a model disabled and its connection alone needs no answer.
func TestConnectionTest(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	kept := create(t, n, func(c *registry.Create) {
		c.Auth, c.TestParameters = &registry.Auth{Type: registry.Bearer, Token: "secret-token"}, map[string]json.RawMessage{"seed": []byte("7")}
	})
	if got := n.dialer.last; string(got.Parameters.Extra["seed"]) != "7" || got.Parameters.MaxTokens != nil || len(n.dialer.called) != 1 {
		t.Errorf("the test sent %+v in %d calls", got.Parameters, len(n.dialer.called))
	}
	for _, c := range []struct {
		err   error
		field string
	}{
		{&llm.Error{Failure: llm.Rejected, Status: 401, Text: "bad key secret-token"}, "auth"}, {&llm.Error{Failure: llm.Rejected, Status: 400}, "model"},
		{&llm.Error{Failure: llm.Rejected, Status: 404}, "uri"}, {&llm.Error{Failure: llm.Unreachable}, "uri"}, {&llm.Error{Failure: llm.TimedOut}, "uri"},
		{&llm.Error{Failure: llm.Limited, Status: 429}, "uri"}, {&llm.Error{Failure: llm.Broken}, "uri"}, {&llm.Error{Failure: llm.Blocked}, "uri"}, {&llm.Error{Failure: llm.Empty}, "uri"},
	} {
		n.dialer.fail = c.err
		_, created := n.Create(t.Context(), registry.Create{Name: "new", Type: registry.OpenAI, Model: "m", URI: "http://a.test", Auth: &registry.Auth{Type: registry.Bearer, Token: "secret-token"}})
		_, updated := n.Update(t.Context(), "local", registry.Patch{Description: some("other")})
		for what, err := range map[string]error{"create": created, "update": updated} {
			f, ok := fault.As(err)
			if !ok || f.Kind != fault.KindInvalid || !strings.HasPrefix(f.Text, "connection test failed") || f.Fields[c.field] == "" || strings.Contains(f.Error(), "secret-token") {
				t.Errorf("%s with %v: %v", what, c.err, err)
			}
		}
	}
	if got, err := n.Get(t.Context(), "local"); err != nil || cmp.Diff(kept, got) != "" {
		t.Errorf("the model is now %+v, %v", got, err)
	}
	wantList(t, n, registry.List{Limit: 10}, "local", registry.Embedded)
	off := registry.Patch{Enabled: some(false), Budget: map[string]opt.Field[int64]{"requests_per_second": some(int64(3))}, Description: some("broken")}
	if _, err := n.Update(t.Context(), "local", off); err != nil {
		t.Errorf("switching off what does not answer: %v", err)
	}
	for what, p := range map[string]registry.Patch{
		"on again": {Enabled: some(true)}, "other uri": {URI: some("http://b.test")}, "other model": {Model: some("x")},
		"other key": {Auth: &registry.Auth{Type: registry.Bearer, Token: "t"}}, "other header": {Headers: some(map[string]string{"a": "b"})},
	} {
		if _, err := n.Update(t.Context(), "local", p); !fault.Is(err, fault.KindInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	n.dialer.fail = &llm.Error{Failure: llm.Truncated}
	if _, err := n.Update(t.Context(), "local", registry.Patch{Enabled: some(true)}); err != nil {
		t.Errorf("an answer longer than it may be: %v", err)
	}
}

// TestTestEndsWithTheCaller proves that a caller who leaves during the test gets no refusal of the registration.
func TestTestEndsWithTheCaller(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	ctx, cancel := context.WithCancel(t.Context())
	n.dialer.answer = func(registry.Connection, llm.Request) (llm.Answer, error) {
		cancel()
		return llm.Answer{}, context.Canceled
	}
	_, err := n.Create(ctx, registry.Create{Name: "a", Type: registry.OpenAI, Model: "m", URI: "http://a.test"})
	if _, expected := fault.As(err); expected || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestPatch proves what each member of a change does when it is absent, null and given.
func TestPatch(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	yes, limit := true, 5_000
	was := create(t, n, func(c *registry.Create) {
		c.Description, c.Idle = "d", 9*time.Second
		c.Auth, c.Headers = &registry.Auth{Type: registry.Bearer, Token: "first", Region: "not of a bearer"}, map[string]string{"X-A": "1"}
		c.Budget = usage.Budget{RequestsPerSecond: 5, Quota: usage.Quota{InputPerDay: 7, OutputPerMonth: 8}}
		c.Capabilities = registry.Capabilities{ImageSupport: &yes, ContextLimit: &limit}
	})
	if want := (registry.Auth{Type: registry.Bearer, Token: registry.Mask}); !cmp.Equal(*was.Shown, want) {
		t.Errorf("shown credentials: %+v", was.Shown)
	}
	same := func(what string, p registry.Patch, change func(*registry.LLM)) {
		t.Helper()
		want, err := n.Get(t.Context(), "local")
		if err != nil {
			t.Fatal(err)
		}
		change(&want)
		got, err := n.Update(t.Context(), "local", p)
		want.Updated, want.Revision = got.Updated, want.Revision+1
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", what, err, d)
		}
		if stored, err := n.Get(t.Context(), "local"); err != nil || !cmp.Equal(stored, got) {
			t.Errorf("%s: stored is %+v, %v", what, stored, err)
		}
	}
	dialed := func(want string) {
		t.Helper()
		if got := n.dialer.called[len(n.dialer.called)-1].Auth; got == nil || got.Token != want {
			t.Errorf("called with %+v, want %s", got, want)
		}
	}
	same("nothing", registry.Patch{}, func(*registry.LLM) {})
	dialed("first")
	same("auth", registry.Patch{Auth: &registry.Auth{Type: registry.Header, Header: "k", Value: "second"}}, func(l *registry.LLM) {
		l.Shown = &registry.Auth{Type: registry.Header, Header: "k", Value: registry.Mask}
	})
	same("bounds", registry.Patch{Budget: map[string]opt.Field[int64]{"requests_per_second": opt.Null[int64](), "input_tokens_per_day": opt.Null[int64](), "input_tokens_per_minute": some(int64(3))}},
		func(l *registry.LLM) {
			l.Budget.RequestsPerSecond, l.Budget.InputPerDay, l.Budget.InputPerMinute = 0, 0, 3
		})
	same("idle", registry.Patch{Idle: opt.Null[time.Duration]()}, func(l *registry.LLM) { l.Idle = 0 })
	if got := n.dialer.called[len(n.dialer.called)-1].Idle; got != registry.DefaultIdle {
		t.Errorf("the idle timeout is %v", got)
	}
	same("capabilities", registry.Patch{Context: opt.Null[int](), Tools: some(true)}, func(l *registry.LLM) { l.Capabilities.ContextLimit, l.Capabilities.ToolCalling = nil, &yes })
	same("texts", registry.Patch{Description: some(""), Headers: some(map[string]string(nil)), Model: some("gpt-4")}, func(l *registry.LLM) { l.Description, l.Headers, l.Model = "", nil, "gpt-4" })
	if got, err := n.Get(t.Context(), "local"); err != nil || got.Can().Context != 8_192 || !got.Can().Images {
		t.Errorf("abilities %+v, %v", got.Can(), err)
	}
}

// TestChangeOfType proves that a model changes its type only with what the new type needs.
func TestChangeOfType(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	create(t, n, func(c *registry.Create) { c.Auth = &registry.Auth{Type: registry.Bearer, Token: "t"} })
	refused := func(p registry.Patch, fields ...string) {
		t.Helper()
		_, err := n.Update(t.Context(), "local", p)
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid || fmt.Sprint(f.Paths()) != fmt.Sprint(fields) {
			t.Errorf("%+v: %v, want faults of %v", p, err, fields)
		}
	}
	refused(registry.Patch{Type: some(registry.Vertex)}, "auth", "auth.type", "model", "uri")
	refused(registry.Patch{Type: some(registry.Responses)}, "model", "uri")
	refused(registry.Patch{Type: some(registry.Anthropic), Model: some("m")}, "auth")
	refused(registry.Patch{Type: some(registry.Vertex), Model: some("m"), URI: some("https://v.test"), Auth: &registry.Auth{Type: registry.Bearer, Token: "t"}}, "auth.type")
	refused(registry.Patch{Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}}, "auth.type")
	for _, p := range []registry.Patch{
		{Type: some(registry.OpenAI)},
		{Type: some(registry.Responses), Model: some("m"), URI: some("https://r.test")},
		{Type: some(registry.Anthropic), Model: some("m"), Auth: &registry.Auth{Type: registry.Bearer, Token: "t"}},
		{Type: some(registry.Vertex), Model: some("m"), URI: some("https://v.test"), Auth: &registry.Auth{Type: registry.APIKey, APIKey: "k"}},
	} {
		l, err := n.Update(t.Context(), "local", p)
		if err != nil || l.Type != p.Type.Or("") || l.URI != p.URI.Or(l.URI) {
			t.Errorf("%+v: %+v, %v", p, l, err)
		}
	}
}

// TestTakenName proves that a name is given once, also to two who ask at once.
func TestTakenName(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	var made sync.Map
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			_, err := all[i%2].Create(t.Context(), registry.Create{Name: "one", Type: registry.OpenAI, Model: "m", URI: "http://a.test"})
			if err == nil {
				made.Store(i, true)
			} else if f, ok := fault.As(err); !ok || f.Fields["name"] == "" {
				t.Errorf("create: %v", err)
			}
		})
	}
	group.Wait()
	n := 0
	made.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d were made", n)
	}
}

// TestChangesAtOnce proves that changes of different members at once all hold.
func TestChangesAtOnce(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	create(t, all[0], nil)
	var group sync.WaitGroup
	for i, p := range []registry.Patch{{Description: some("d")}, {Model: some("x")}, {Budget: map[string]opt.Field[int64]{"requests_per_second": some(int64(9))}}} {
		group.Go(func() {
			if _, err := all[i%2].Update(t.Context(), "local", p); err != nil {
				t.Errorf("update: %v", err)
			}
		})
	}
	group.Wait()
	if got, err := all[0].Get(t.Context(), "local"); err != nil || got.Description != "d" || got.Model != "x" || got.Budget.RequestsPerSecond != 9 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestBrokenRow proves that a row that can't be mapped is no outcome of the request that reads it, that lists go on
// without it, that it does not keep others from answering, and that it can be deleted.
func TestBrokenRow(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1, "gpt-4o")[0]
	create(t, n, func(c *registry.Create) { c.Name = "before" })
	broken := create(t, n, func(c *registry.Create) { c.Name, c.Default = "broken", true })
	create(t, n, func(c *registry.Create) { c.Name = "after" })
	if err := n.db.Write(t.Context(), func(tx *store.Tx) error { return tx.Exec(`UPDATE llms SET type = 'pigeon' WHERE name = 'broken'`) }); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 5; limit++ {
		wantList(t, n, registry.List{Limit: limit}, "after", "before", registry.Embedded, "gpt-4o")
	}
	_, got := n.Get(t.Context(), "broken")
	_, used := n.Model(t.Context(), string(broken.Name))
	for what, err := range map[string]error{"get": got, "use": used} {
		if _, expected := fault.As(err); expected || err == nil || !strings.Contains(err.Error(), "pigeon") {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantAnswers(t, n, "a broken default", map[string]string{"": "builtin", "gpt-4o": "builtin"})
	if err := n.Delete(t.Context(), "broken"); err != nil {
		t.Error(err)
	}
}

// TestAddressOfAnthropic proves that the address that the type has of its own is filled in where it is called.
func TestAddressOfAnthropic(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	bedrock := &registry.Auth{Type: registry.BedrockAPIKey, APIKey: "k", Region: "us-east-1"}
	got := create(t, n, func(c *registry.Create) { c.Type, c.URI, c.Auth = registry.Anthropic, "", bedrock })
	if got.URI != "" {
		t.Errorf("hosted by a cloud: %q", got.URI)
	}
	got, err := n.Update(t.Context(), "local", registry.Patch{Auth: &registry.Auth{Type: registry.Bearer, Token: "t"}})
	if want := "https://api.anthropic.com/v1/messages"; err != nil || got.URI != want || n.dialer.opened[len(n.dialer.opened)-1].URI != want {
		t.Errorf("direct: %q, %v", got.URI, err)
	}
}

package registry_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/llms"
	"quarry/internal/store/storetest"
	"quarry/internal/usage"
	"quarry/internal/usage/usagetest"
)

// echo is a provider that answers with what its connection is.
type echo struct {
	c     registry.Connection
	ask   func(llm.Request) (llm.Answer, error) // nil: answers by itself
	calls func(registry.Connection, llm.Request)
}

// Stream implements llm.Provider.
func (e echo) Stream(_ context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	e.calls(e.c, r)
	a := llm.Answer{Text: e.c.Model, Reason: llm.Stop}
	if e.ask != nil {
		var err error
		if a, err = e.ask(r); err != nil {
			return a, err
		}
	}
	if a.Text != "" {
		if err := emit(llm.Event{Text: a.Text}); err != nil {
			return a, err
		}
	}
	return a, nil
}

// dialer opens echoes and remembers what was opened and called.
type dialer struct {
	mu     sync.Mutex
	opened []registry.Connection                                      // guarded by mu
	called []registry.Connection                                      // guarded by mu
	last   llm.Request                                                // guarded by mu
	answer func(registry.Connection, llm.Request) (llm.Answer, error) // set before use
	fail   error                                                      // of every call from now on; set between calls
}

// Open implements registry.Dialer.
func (d *dialer) Open(c registry.Connection) (llm.Provider, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened = append(d.opened, c)
	e := echo{c: c, calls: func(c registry.Connection, r llm.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.called, d.last = append(d.called, c), r
	}}
	e.ask = func(r llm.Request) (llm.Answer, error) {
		if d.fail != nil || d.answer == nil {
			return llm.Answer{Text: c.Model, Reason: llm.Stop}, d.fail
		}
		return d.answer(c, r)
	}
	return e, nil
}

// node is one process over a database.
type node struct {
	*registry.Service
	dialer   *dialer
	counters *usage.Counters
	prober   *prober
	db       *store.DB
	rows     *llms.Store
}

// nodes returns services over one SQLite database.
func nodes(t *testing.T, n int, aliases ...string) []*node {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	rows := llms.New(db, storetest.Secrets(t, db))
	out := make([]*node, n)
	for i := range out {
		one := &node{db: db, rows: rows, dialer: &dialer{}, prober: &prober{}, counters: usage.NewCounters(new(usagetest.Memory), slog.New(slog.DiscardHandler))}
		one.Service = registry.New(registry.Config{
			Store: rows, Dialer: one.dialer, Prober: one.prober, Meter: usage.NewMeter(one.counters), Aliases: aliases,
			Builtin: echo{c: registry.Connection{Model: "builtin"}, calls: func(registry.Connection, llm.Request) {}},
		})
		out[i] = one
	}
	return out
}

func create(t *testing.T, n *node, change func(*registry.Create)) registry.LLM {
	t.Helper()
	cmd := registry.Create{Name: "local", Type: registry.OpenAI, Model: "m", URI: "http://a.test/v1/chat/completions"}
	if change != nil {
		change(&cmd)
	}
	l, err := n.Create(t.Context(), cmd)
	if err != nil {
		t.Fatalf("create %q: %v", cmd.Name, err)
	}
	return l
}

// answers returns which model answers to a name.
func answers(t *testing.T, n *node, name string) string {
	t.Helper()
	m, err := n.Model(t.Context(), name)
	if err != nil {
		if fault.Is(err, fault.KindInvalid) {
			return "400"
		}
		t.Fatalf("model %q: %v", name, err)
	}
	a, err := llm.Complete(t.Context(), m, llm.Request{Messages: []llm.Message{llm.Text(llm.User, "hi")}})
	if err != nil {
		t.Fatalf("call %q: %v", name, err)
	}
	return a.Text
}

func wantAnswers(t *testing.T, n *node, what string, want map[string]string) {
	t.Helper()
	for name, model := range want {
		if got := answers(t, n, name); got != model {
			t.Errorf("%s: %q is answered by %q, want %q", what, name, got, model)
		}
	}
}

// prober is an registry.Prober that serves catalogs by wire format.
type prober struct {
	catalogs map[registry.Type]registry.Catalog
	errs     map[registry.Type]error
}

// Catalog implements registry.Prober.
func (p *prober) Catalog(_ context.Context, c registry.Connection) (registry.Catalog, error) {
	if err := p.errs[c.Type]; err != nil {
		return registry.Catalog{}, err
	}
	if found, ok := p.catalogs[c.Type]; ok {
		return found, nil
	}
	return registry.Catalog{}, &llm.Error{Failure: llm.Rejected, Status: 404}
}

// TestNames proves who answers to a name: the customer's model before the platform's, aliases by the default model, and
// the embedded model where nothing else is the default; and that every node follows at once.
func TestNames(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2, "gpt-4o", "extractive-1.0", "gpt-4o")
	a, b := all[0], all[1]
	wantAnswers(t, b, "nothing registered", map[string]string{"": "builtin", "extractive-1.0": "builtin", "gpt-4o": "builtin", "local": "400"})
	first := create(t, a, func(c *registry.Create) { c.Model = "first" })
	wantAnswers(t, b, "registered", map[string]string{"": "builtin", "local": "first", "Local": "400", string(first.ID): "400"})
	second := create(t, a, func(c *registry.Create) { c.Name, c.Model, c.Default = "other", "second", true })
	wantAnswers(t, b, "a default", map[string]string{"": "second", "gpt-4o": "second", "extractive-1.0": "builtin", "local": "first"})
	if _, err := a.Update(t.Context(), "other", registry.Patch{Enabled: some(false)}); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, b, "the default disabled", map[string]string{"": "builtin", "gpt-4o": "builtin", "other": "400"})
	if _, err := a.Update(t.Context(), string(second.ID), registry.Patch{Enabled: some(true), Model: some("third")}); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, b, "enabled again", map[string]string{"": "third", "gpt-4o": "third", "other": "third"})
	create(t, a, func(c *registry.Create) { c.Name, c.Model = "gpt-4o", "own" })
	wantAnswers(t, b, "an alias taken", map[string]string{"": "third", "gpt-4o": "own"})
	if err := a.Delete(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, b, "the default deleted", map[string]string{"": "builtin", "other": "400", "gpt-4o": "own"})
	create(t, a, func(c *registry.Create) { c.Name, c.Model = registry.Embedded, "mine" })
	wantAnswers(t, b, "the embedded one's name taken", map[string]string{"": "mine", "extractive-1.0": "mine"})
}

func some[T any](v T) opt.Field[T] { return opt.Some(v) }

// changing is a store in which a model is changed right before its credentials are read, once.
type changing struct {
	registry.Store
	change func()
}

// Auth implements registry.Store.
func (c *changing) Auth(ctx context.Context, l id.LLM) (*registry.Auth, error) {
	if change := c.change; change != nil {
		c.change = nil
		change()
	}
	return c.Store.Auth(ctx, l)
}

// TestCredentialsStayWithTheirAddress proves that a model whose address and credentials change while it is opened is
// opened with both as they are now: the new credentials never go to the old address.
func TestCredentialsStayWithTheirAddress(t *testing.T) {
	t.Parallel()
	n := nodes(t, 1)[0]
	create(t, n, func(c *registry.Create) { c.Auth = &registry.Auth{Type: registry.Bearer, Token: "old-token"} })
	store := &changing{Store: n.rows, change: func() {
		fresh := &registry.Auth{Type: registry.Bearer, Token: "new-token"}
		if _, err := n.Update(t.Context(), "local", registry.Patch{URI: some("http://b.test/v1/chat/completions"), Auth: fresh}); err != nil {
			t.Error(err)
		}
	}}
	d := &dialer{}
	other := registry.New(registry.Config{Store: store, Dialer: d, Meter: usage.NewMeter(n.counters)})
	if _, err := other.Model(t.Context(), "local"); err != nil {
		t.Fatal(err)
	}
	if len(d.opened) != 1 || d.opened[0].URI != "http://b.test/v1/chat/completions" || d.opened[0].Auth.Token != "new-token" {
		t.Errorf("opened %+v", d.opened)
	}
}

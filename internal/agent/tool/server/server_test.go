package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/server"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/opt"
	"quarry/internal/store"
	"quarry/internal/store/storetest"
	"quarry/internal/store/tools"
	"quarry/internal/store/toolservers"
)

// remote plays the servers: it lists what answer returns.
type remote struct {
	mu      sync.Mutex
	answer  func(context.Context, server.Target) ([]server.Listed, error) // guarded by mu
	targets []server.Target                                               // guarded by mu: those that were asked
	closed  []id.ToolServer                                               // guarded by mu
}

func (r *remote) List(ctx context.Context, t server.Target) ([]server.Listed, error) {
	r.mu.Lock()
	r.targets = append(r.targets, t)
	answer := r.answer
	r.mu.Unlock()
	return answer(ctx, t)
}

func (r *remote) Call(context.Context, server.Target, string, json.RawMessage, func(string)) (server.Result, error) {
	return server.Result{}, errors.New("nothing is called here")
}

func (r *remote) Close(which id.ToolServer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = append(r.closed, which)
}

// away is the error of a server that can't list its tools.
type away struct {
	text string
	kind error
}

func (a away) Error() string { return a.text }
func (a away) Unwrap() error { return a.kind }

// lists sets what the servers list from now on.
func (r *remote) lists(tools ...server.Listed) {
	r.answers(func(context.Context, server.Target) ([]server.Listed, error) { return tools, nil })
}

func (r *remote) answers(f func(context.Context, server.Target) ([]server.Listed, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// bench is a service over a database.
type bench struct {
	*server.Service
	remote *remote
	rows   *toolservers.Store
	tools  *tools.Store
	db     *store.DB
	log    *bytes.Buffer
}

func open(t *testing.T) *bench {
	t.Helper()
	db := storetest.Open(t, store.Config{Dir: t.TempDir()})
	b := &bench{remote: &remote{}, rows: toolservers.New(db, storetest.Secrets(t, db)), tools: tools.New(db), db: db, log: new(bytes.Buffer)}
	b.remote.lists()
	b.Service = b.service()
	return b
}

// service returns another service over the same database, as another node has one.
func (b *bench) service() *server.Service {
	return server.New(server.Config{
		Store: b.rows, Client: b.remote, Log: slog.New(slog.NewTextHandler(b.log, nil)),
		Reserved: func(name string) bool { return name == "corpora_search" },
	})
}

func named(name string) server.Change {
	return server.Change{Name: opt.Some(name), URI: opt.Some("https://" + strings.ReplaceAll(name, " ", "-") + ".test/mcp"), Transport: opt.Some(server.Streamable)}
}

func (b *bench) create(t *testing.T, c server.Change) server.Server {
	t.Helper()
	made, err := b.Create(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// catalog returns the tools of all servers by their names.
func (b *bench) catalog(t *testing.T) map[string]catalog.Tool {
	t.Helper()
	found, _, err := b.tools.List(t.Context(), nil, 5_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]catalog.Tool{}
	for _, x := range found {
		out[x.Name] = x
	}
	return out
}

func listed(name string) server.Listed {
	return server.Listed{Name: name, Description: "About " + name, Input: json.RawMessage(`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}}}`)}
}

// TestRefused proves that what can't work, or would leak, is refused with the field at fault.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := open(t)
	auth := func(a server.Auth) func(*server.Change) { return func(c *server.Change) { c.Auth = opt.Some(a) } }
	uri := func(u string) func(*server.Change) { return func(c *server.Change) { c.URI = opt.Some(u) } }
	headers := func(all map[string]string) func(*server.Change) {
		return func(c *server.Change) { c.Headers = opt.Some(all) }
	}
	oauth := func(change func(*server.Auth)) func(*server.Change) {
		a := server.Auth{Type: server.ClientCredentials, ClientID: "c", ClientSecret: "s", TokenEndpoint: "https://t.test/token"}
		change(&a)
		return auth(a)
	}
	for _, c := range []struct {
		field  string
		change func(*server.Change)
	}{
		{"name", func(c *server.Change) { c.Name = opt.Some(" \t") }}, {"name", func(c *server.Change) { c.Name = opt.Some(strings.Repeat("名", 51)) }}, {"name", func(c *server.Change) { c.Name = opt.Some("a\nb") }},
		{"description", func(c *server.Change) { c.Description = opt.Some(strings.Repeat("ü", 5_001)) }},
		{"uri", uri("")}, {"uri", uri("file:///etc/passwd")}, {"uri", uri("/mcp")}, {"uri", uri("mcp.test")}, {"uri", uri("https://user:pw@a.test")}, {"uri", uri("ws://a.test")},
		{"transport", func(c *server.Change) { c.Transport = opt.Some("stdio") }},
		{"metadata", func(c *server.Change) {
			c.Metadata = opt.Some(json.RawMessage(`{"x":"` + strings.Repeat("x", 65_535) + `"}`))
		}},
		{"headers.Authorization", headers(map[string]string{"Authorization": "****"})}, {"headers.X-My-Token", headers(map[string]string{"X-My-Token": "*"})},
		{"headers.Host", headers(map[string]string{"Host": "b.test"})}, {"headers.X-A", headers(map[string]string{"X-A": "a\r\nb"})}, {"headers", headers(map[string]string{"a b": "x"})},
		{"auth.type", auth(server.Auth{Type: "basic"})}, {"auth.token", auth(server.Auth{Type: server.Bearer})}, {"auth.token", auth(server.Auth{Type: server.Bearer, Token: "****"})},
		{"auth.token", auth(server.Auth{Type: server.Bearer, Token: "a\nb"})}, {"auth.token", auth(server.Auth{Type: server.Bearer, Token: strings.Repeat("x", 20_001)})},
		{"auth.header", auth(server.Auth{Type: server.Header, Value: "v"})}, {"auth.header", auth(server.Auth{Type: server.Header, Header: "Content-Length", Value: "v"})},
		{"auth.value", auth(server.Auth{Type: server.Header, Header: "X-Key", Value: "**"})},
		{"auth.client_id", oauth(func(a *server.Auth) { a.ClientID = "" })}, {"auth.client_secret", oauth(func(a *server.Auth) { a.ClientSecret = "***" })},
		{"auth.token_endpoint", oauth(func(a *server.Auth) { a.TokenEndpoint = "file:///x" })}, {"auth.token_endpoint", oauth(func(a *server.Auth) { a.TokenEndpoint = "" })},
		{"auth.scopes", oauth(func(a *server.Auth) { a.Scopes = []string{"a b"} })}, {"auth.client_auth_method", oauth(func(a *server.Auth) { a.ClientAuthMethod = "x" })},
		{"auth.audience", oauth(func(a *server.Auth) { a.Audience = "\n" })},
	} {
		change := named("a")
		c.change(&change)
		_, err := b.Create(t.Context(), change)
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindInvalid || f.Fields[c.field] == "" {
			t.Errorf("%+v: %v, want a fault of %s", change, err, c.field)
		}
	}
	if found, _, err := b.List(t.Context(), server.List{Limit: 10}); err != nil || len(found) != 0 {
		t.Errorf("%v, %d servers were stored", err, len(found))
	}
}

// TestSecrets proves what is shown of headers that carry credentials, that the server is called with all of them and with auth
// in the place of a header of its name, what a change keeps and removes, and that no fault or log has a secret.
func TestSecrets(t *testing.T) {
	t.Parallel()
	b := open(t)
	c := named("s")
	c.Headers = opt.Some(map[string]string{"X-Region": "eu", "authorization": "Basic s3cretbasic", "X-Session-Token": "s3crettoken"})
	c.Auth = opt.Some(server.Auth{Type: server.Bearer, Token: "s3cretbearer", Value: "of another kind"})
	v := b.create(t, c)
	if want := (map[string]string{"X-Region": "eu", "authorization": "****", "X-Session-Token": "****"}); !maps.Equal(v.Headers, want) {
		t.Errorf("shown %v", v.Headers)
	}
	target := func() server.Target {
		t.Helper()
		got, err := b.Target(t.Context(), v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	want := server.Target{
		ID: v.ID, Revision: 1, URI: "https://s.test/mcp", Transport: server.Streamable, Headers: map[string]string{"X-Region": "eu", "X-Session-Token": "s3crettoken"},
		Auth: &server.Auth{Type: server.Bearer, Token: "s3cretbearer"},
	}
	if diff := cmp.Diff(want, target()); diff != "" {
		t.Error(diff)
	}
	update := func(c server.Change) {
		t.Helper()
		var err error
		if v, err = b.Update(t.Context(), v, c); err != nil {
			t.Fatal(err)
		}
	}
	update(server.Change{Description: opt.Some("d")})
	if got := target(); got.Auth == nil || got.Headers["X-Session-Token"] != "s3crettoken" || got.Revision != 2 {
		t.Errorf("after a change of something else: %+v", got)
	}
	update(server.Change{Auth: opt.Null[server.Auth]()})
	if got := target(); got.Auth != nil || got.Headers["authorization"] != "Basic s3cretbasic" {
		t.Errorf("after auth was removed: %+v", got)
	}
	if _, err := b.Update(t.Context(), v, server.Change{Headers: opt.Some(v.Headers)}); !fault.Is(err, fault.KindInvalid) {
		t.Errorf("masks that were sent back: %v", err)
	}
	update(server.Change{Headers: opt.Some(map[string]string{"X-Other": "o"})})
	if got := target(); !maps.Equal(got.Headers, map[string]string{"X-Other": "o"}) {
		t.Errorf("after headers were replaced: %+v", got)
	}
	update(server.Change{Headers: opt.Null[map[string]string](), Auth: opt.Some(server.Auth{Type: server.Header, Header: "X-Pass", Value: "s3cretpass"})})
	if got := target(); len(got.Headers) != 0 || got.Auth.Value != "s3cretpass" {
		t.Errorf("after headers were removed: %+v", got)
	}

	for _, kind := range []error{server.ErrUnavailable, nil} { // a server that repeats what it was sent
		b.remote.answers(func(_ context.Context, t server.Target) ([]server.Listed, error) {
			return nil, away{fmt.Sprintf("the tool server failed: it said: %s is wrong", t.Auth.Value), kind}
		})
		err := b.Sync(t.Context(), v)
		got, getErr := b.Get(t.Context(), v.ID)
		if err == nil || getErr != nil || strings.Contains(err.Error()+got.Sync.Message, "s3cret") || !strings.Contains(got.Sync.Message, "it said: **** is wrong") {
			t.Errorf("%v, %v, %q", err, getErr, got.Sync.Message)
		}
	}
	b.remote.answers(func(_ context.Context, t server.Target) ([]server.Listed, error) {
		echo := listed("echo")
		echo.Description, echo.Title, echo.Input = "Sent "+t.Auth.Value, t.Auth.Value, json.RawMessage(`{"type":"object","description":"`+t.Auth.Value+`"}`)
		return []server.Listed{echo}, nil
	})
	if err := b.Sync(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	if raw, err := json.Marshal(b.catalog(t)["echo"]); err != nil || bytes.Contains(raw, []byte("s3cret")) || !bytes.Contains(raw, []byte("Sent ****")) {
		t.Errorf("%v, %s", err, raw)
	}
	if strings.Contains(b.log.String(), "s3cret") {
		t.Errorf("logged: %s", b.log)
	}
}

// TestNames proves under which names tools stand in the catalogue, and that they keep them from sync to sync.
func TestNames(t *testing.T) {
	t.Parallel()
	b := open(t)
	if _, err := b.tools.Create(t.Context(), catalog.Tool{ID: id.NewTool(), Version: 1, Definition: catalog.Definition{Type: catalog.Client, Name: "dialog"}}); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("long", 20)
	own := []string{"plain", "with.dots/and ünï", "corpora_search", "dialog", "天気", "a.b", "a/b", "a-b", long + "1", long + "2", "shared"}
	one := b.create(t, named("first server"))
	listing := func(names ...string) (out []server.Listed) {
		for _, n := range names {
			out = append(out, listed(n))
		}
		return out
	}
	names := func(v server.Server) map[string]string {
		out := map[string]string{}
		for name, x := range b.catalog(t) {
			if x.Remote != nil && x.Remote.Server == v.ID {
				out[x.Remote.Name] = name
			}
		}
		return out
	}
	b.remote.lists(listing(own...)...)
	if err := b.Sync(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	got := names(one)
	for own, want := range map[string]string{
		"plain": "plain", "with.dots/and ünï": "with_dots_and__n_", "corpora_search": "first_server_corpora_search", "dialog": "first_server_dialog", "天気": "tool",
		"a.b": "a_b", "a/b": "first_server_a_b", "a-b": "a-b", long + "1": long[:50], "shared": "shared",
	} {
		if got[own] != want {
			t.Errorf("%s stands as %s, want %s", own, got[own], want)
		}
	}
	if name := got[long+"2"]; len(name) > 50 || !strings.HasPrefix(name, "first_server_long") {
		t.Errorf("the second of two long names stands as %s", name)
	}
	two := b.create(t, named("second"))
	b.remote.lists(listing("shared")...)
	if err := b.Sync(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	if name := names(two)["shared"]; name != "second_shared" {
		t.Errorf("the tool of two servers stands as %s", name)
	}
	renamed, err := b.Update(t.Context(), one, server.Change{Name: opt.Some("renamed")})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(own)
	b.remote.lists(listing(append(own, "new.one", "new/one")...)...)
	if err := b.Sync(t.Context(), renamed); err != nil {
		t.Fatal(err)
	}
	after := names(one)
	if after["new/one"] != "renamed_new_one" {
		t.Errorf("a new tool stands as %s", after["new/one"])
	}
	delete(after, "new.one")
	delete(after, "new/one")
	if diff := cmp.Diff(got, after); diff != "" {
		t.Errorf("names have changed: %s", diff)
	}
}

// TestSync proves what a sync makes of tools that are new, changed, gone and back: ids, what people have enabled, versions.
func TestSync(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	yes, no := true, false
	full := listed("full")
	full.Title, full.Output, full.ReadOnly, full.Destructive = "Full", json.RawMessage(` {"type": "object"} `), &yes, &no
	sync := func(message string, tools ...server.Listed) map[string]catalog.Tool {
		t.Helper()
		b.remote.lists(tools...)
		if err := b.Sync(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		got, err := b.Get(t.Context(), v.ID)
		if err != nil || got.Sync.Status != server.OK || got.Sync.Message != message || got.Sync.At.IsZero() {
			t.Errorf("%v, %+v, want %q", err, got.Sync, message)
		}
		return b.catalog(t)
	}
	first := sync("3 tools, 3 new", full, listed("b"), listed("full"), server.Listed{Name: "bare"})
	want := catalog.Definition{
		Type: catalog.MCP, Name: "full", Title: "Full", Description: "About full", Enabled: true, Input: full.Input, Output: json.RawMessage(`{"type":"object"}`),
		Remote: &catalog.Remote{Server: v.ID, Name: "full", ReadOnly: &yes, Destructive: &no},
	}
	if diff := cmp.Diff(want, first["full"].Definition); diff != "" {
		t.Error(diff)
	}
	if bare := first["bare"]; bare.Description != "The tool bare of the tool server s." || string(bare.Input) != "{}" || bare.Output != nil {
		t.Errorf("%+v", bare)
	}
	b1 := first["b"]
	b1.Enabled = false // by people
	if _, err := b.tools.Replace(t.Context(), b1); err != nil {
		t.Fatal(err)
	}
	changed := listed("b")
	changed.Description = "Changed"
	second := sync("1 tool; 2 that the server no longer lists are disabled", changed)
	if got := second["b"]; got.ID != b1.ID || got.Description != "Changed" || got.Enabled || got.Version != b1.Version+2 {
		t.Errorf("%+v", got)
	}
	if got := second["full"]; got.ID != first["full"].ID || !got.Remote.Gone || got.Available() || !got.Enabled || got.Description != "About full" {
		t.Errorf("a tool that is gone: %+v", got)
	}
	third := sync("2 tools; 1 that the server no longer lists are disabled", full, changed)
	if got := third["full"]; got.ID != first["full"].ID || !got.Available() || got.Remote.Gone {
		t.Errorf("a tool that is back: %+v", got)
	}
	if got := third["b"]; got.Version != second["b"].Version || got.Enabled {
		t.Errorf("a tool that has not changed is version %d, was %d", got.Version, second["b"].Version)
	}
}

// TestBroken proves that a tool whose schema can't be used is there, disabled, and tells why, until the server mends it.
func TestBroken(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	for _, c := range []struct{ input, output, says string }{
		{`{"type":"object","properties":{"a":{"type":"nothing"}}}`, ``, "Disabled: the input schema is no JSON Schema"}, {`{"type":"array"}`, ``, "Disabled: the input schema must be of"},
		{`[]`, ``, "Disabled: the input schema is no JSON Schema"}, {`{"$ref":"https://a.test/schema"}`, ``, "Disabled: the input schema"}, {`{}`, `{"type":7}`, "Disabled: the output schema must be of"},
		{`{"properties":{"a":{"pattern":"("}}}`, ``, "Disabled: the input schema"},
	} {
		bad := listed("bad")
		if bad.Input, bad.Output = json.RawMessage(c.input), nil; c.output != "" {
			bad.Output = json.RawMessage(c.output)
		}
		b.remote.lists(bad, listed("good"))
		if err := b.Sync(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		got := b.catalog(t)
		if x := got["bad"]; x.Available() || !strings.HasPrefix(x.Description, c.says) || !strings.HasSuffix(x.Description, ". About bad") || x.Input[0] != '{' {
			t.Errorf("%s: %+v", c.input, x)
		}
		if x := got["good"]; !x.Available() {
			t.Error("another tool is disabled, too")
		}
		b.remote.lists(listed("bad"), listed("good"))
		if err := b.Sync(t.Context(), v); err != nil {
			t.Fatal(err)
		}
		if x := b.catalog(t)["bad"]; !x.Available() || x.Description != "About bad" {
			t.Errorf("mended: %+v", x)
		}
	}
}

// TestSyncFailed proves that what fails leaves the tools as they are, with its code and reason, and stays to be read.
func TestSyncFailed(t *testing.T) {
	t.Parallel()
	b := open(t)
	v := b.create(t, named("s"))
	b.remote.lists(listed("a"))
	if err := b.Sync(t.Context(), v); err != nil {
		t.Fatal(err)
	}
	was := b.catalog(t)
	synced, _ := b.Get(t.Context(), v.ID)
	many := make([]server.Listed, server.MaxTools+1)
	for i := range many {
		many[i] = listed(fmt.Sprint("t", i))
	}
	large := listed("large")
	large.Input = json.RawMessage(`{"description":"` + strings.Repeat("x", server.MaxDefinition) + `"}`)
	for says, answer := range map[string]func(context.Context, server.Target) ([]server.Listed, error){
		"server_unavailable: the tool server failed: nobody is there": func(context.Context, server.Target) ([]server.Listed, error) {
			return nil, away{"the tool server failed: nobody is there", server.ErrUnavailable}
		},
		"sync_failed: is HTML": func(context.Context, server.Target) ([]server.Listed, error) { return nil, errors.New("is HTML") },
		"sync_failed: the tool server lists more than 1000 tools": func(context.Context, server.Target) ([]server.Listed, error) { return many, nil },
		"sync_failed: the definition of the tool large has":       func(context.Context, server.Target) ([]server.Listed, error) { return []server.Listed{large}, nil },
		"sync_failed: tool 1 of the tool server has no name":      func(context.Context, server.Target) ([]server.Listed, error) { return []server.Listed{{}}, nil },
		"internal: panic": func(context.Context, server.Target) ([]server.Listed, error) { panic("oh") },
	} {
		b.remote.answers(answer)
		err := b.Sync(t.Context(), v)
		code, text, _ := strings.Cut(says, ": ")
		if f, ok := fault.As(err); code != "internal" && (!ok || f.Code != code || !strings.HasPrefix(f.Text, text)) || code == "internal" && (ok || err == nil) {
			t.Errorf("%v, want %s", err, says)
		}
		got, err := b.Get(t.Context(), v.ID)
		if err != nil || got.Sync.Status != server.Failed || code != "internal" && !strings.HasPrefix(got.Sync.Message, text) || !got.Sync.At.Equal(synced.Sync.At) {
			t.Errorf("%v, %+v", err, got.Sync)
		}
		if diff := cmp.Diff(was, b.catalog(t)); diff != "" {
			t.Errorf("%s: tools have changed: %s", says, diff)
		}
	}
}

// TestTaken proves that a name is taken once, by creations and changes, and what becomes of a server that is disabled and deleted.
func TestTaken(t *testing.T) {
	t.Parallel()
	b := open(t)
	b.create(t, named("a"))
	other := b.create(t, named("b"))
	if _, err := b.Create(t.Context(), named("a")); !fault.Is(err, fault.KindConflict) {
		t.Error(err)
	}
	if _, err := b.Update(t.Context(), other, server.Change{Name: opt.Some("a")}); !fault.Is(err, fault.KindConflict) {
		t.Error(err)
	}
	if _, err := b.Update(t.Context(), other, server.Change{Name: opt.Some("b"), Enabled: opt.Some(false)}); err != nil {
		t.Error(err)
	}
	if _, err := b.Update(t.Context(), other, server.Change{Description: opt.Some("an old revision")}); err != nil { // is made on the present one
		t.Error(err)
	}
	if _, err := b.Target(t.Context(), other.ID); !fault.Is(err, fault.KindConflict) {
		t.Errorf("where a server is that is disabled: %v", err)
	}
	if err := b.Delete(t.Context(), other); err != nil {
		t.Error(err)
	}
	if want := []id.ToolServer{other.ID, other.ID, other.ID}; !slices.Equal(b.remote.closed, want) {
		t.Errorf("closed %v, want it where the server is disabled, is changed while it is, and is deleted", b.remote.closed)
	}
	if _, err := b.Target(t.Context(), other.ID); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("where a server is that is gone: %v", err)
	}
}

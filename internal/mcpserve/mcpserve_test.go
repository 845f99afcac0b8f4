package mcpserve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"quarry/internal/app/apptest"
	"quarry/internal/config"
	"quarry/internal/fault"
	"quarry/internal/mcpserve"
	"quarry/internal/provider/scripted"
	"quarry/internal/store/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("quarry/internal/store/storetest.startServer"))
}

// world is a service with a corpus and agents: helper searches and answers; stuck begins an answer and never ends it.
type world struct {
	*httptest.Server
	owner    string
	provider *scripted.Server
	gate     *scripted.Gate          // at which stuck waits
	cut      context.CancelCauseFunc // ends the requests in flight
}

func newWorld(t *testing.T, change func(*config.Config)) *world {
	t.Helper()
	a, owner := apptest.Start(t, change)
	return newWorldOf(t, a.Handler(), owner)
}

func newWorldOf(t *testing.T, handler http.Handler, owner string) *world {
	t.Helper()
	w := &world{owner: owner, provider: scripted.Start(t), gate: scripted.NewGate()}
	requests, cut := context.WithCancelCause(context.Background())
	w.cut = cut
	w.Server = httptest.NewUnstartedServer(handler)
	w.Config.BaseContext = func(net.Listener) context.Context { return requests }
	w.Start()
	t.Cleanup(func() {
		cut(nil)
		w.Client().CloseIdleConnections()
		w.Close()
	})
	w.must(t, "/v2/corpora", map[string]any{"key": "lamps", "name": "Lamps"})
	w.must(t, "/v2/corpora/lamps/documents", map[string]any{
		"type": "core", "id": "return", "metadata": map[string]any{"title": "Return of a lamp"},
		"document_parts": []map[string]any{{"text": "A lamp may be returned within thirty days."}, {"text": "The bulb is not covered."}},
	})
	for _, model := range []string{"helper", "stuck"} {
		w.must(t, "/v2/llms", map[string]any{
			"type": "openai-compatible", "name": model, "model": model, "uri": w.provider.URL + "/v1/chat/completions", "capabilities": map[string]any{"tool_calling": true},
		})
		w.must(t, "/v2/agents", map[string]any{
			"key": model, "name": model, "model": map[string]any{"name": model}, "first_step": map[string]any{"name": "answer"},
			"tool_configurations": map[string]any{"find": map[string]any{
				"type": "corpora_search", "query_configuration": map[string]any{"search": map[string]any{"corpora": []map[string]any{{"corpus_key": "lamps"}}}},
			}},
		})
	}
	w.provider.Respond("helper", scripted.Rounds(
		scripted.Reply{Calls: []scripted.Call{{Name: "find", Pieces: []string{`{"query":"lamp"}`}}}}, scripted.Reply{Text: "Within thirty days."}))
	w.provider.Model("stuck", scripted.Reply{Pieces: []string{"one ", "two"}, Between: w.gate})
	return w
}

// call sends a request of the REST interface.
func (w *world) call(t *testing.T, method, path string, body any) (int, string) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return w.send(t, method, path, string(raw), nil)
}

// send sends a request with a text as its body, and headers beside those of the owner.
func (w *world) send(t *testing.T, method, path, body string, headers map[string]string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, w.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", w.owner)
	r.Header.Set("Content-Type", "application/json")
	for name, v := range headers {
		r.Header.Set(name, v)
	}
	res, err := w.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(got)
}

func (w *world) must(t *testing.T, path string, body any) {
	t.Helper()
	if status, got := w.call(t, http.MethodPost, path, body); status/100 != 2 {
		t.Fatalf("%s: %d %s", path, status, got)
	}
}

// events returns the events of the newest session of an agent, once the turn has ended.
func (w *world) events(t *testing.T, agent string) string {
	t.Helper()
	_, raw := w.call(t, http.MethodGet, "/v2/agents/"+agent+"/sessions?limit=1", nil)
	var list struct {
		Sessions []struct {
			Key string `json:"key"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(raw), &list); err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%v: %s", err, raw)
	}
	for path := "/v2/agents/" + agent + "/sessions/" + list.Sessions[0].Key; ; {
		if _, raw := w.call(t, http.MethodGet, path, nil); !strings.Contains(raw, `"running"`) {
			_, events := w.call(t, http.MethodGet, path+"/events", nil)
			return events
		}
	}
}

// Do is that of mcpserve.Service: what quarry mcp serve does with the network.
func (w *world) Do(r *http.Request) (*http.Response, error) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, w.URL+r.URL.RequestURI(), r.Body)
	if err != nil {
		return nil, err
	}
	out.Header = r.Header.Clone()
	out.Header.Set("x-api-key", w.owner)
	return w.Client().Do(out)
}

// bearer carries requests with a key.
type bearer struct {
	key string
	by  http.RoundTripper
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return b.by.RoundTrip(r)
}

// forms are the ways in which clients reach the tools.
var forms = []struct{ name, version string }{{"http", "2026-07-28"}, {"http", "2025-11-25"}, {"http", "2024-11-05"}, {"stdio", "2026-07-28"}, {"stdio", "2025-06-18"}}

// connect connects a client of the SDK; told gets its progress.
func (w *world) connect(t *testing.T, form, version string, told func(string)) *mcp.ClientSession {
	t.Helper()
	var way mcp.Transport
	if form == "http" {
		way = &mcp.StreamableClientTransport{Endpoint: w.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{w.owner, w.Client().Transport}}, MaxRetries: -1}
	} else {
		way = w.stdio(t)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { told(r.Params.Message) },
	})
	s, err := client.Connect(t.Context(), way, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// stdio starts the form for clients on the same machine, which ends with the test.
func (w *world) stdio(t *testing.T) mcp.Transport {
	t.Helper()
	server, err := mcpserve.NewServer(w, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = mcpserve.Stdio(context.Background(), server, in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		<-done
	})
	return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
}

// text returns what a model reads of a result.
func text(r *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// TestTools proves that a client of the SDK finds the six tools in each form and version of the protocol, that each does what it is for, with
// an output that fits its schema, that a conversation goes on by its session_key, and that progress tells each call of a tool.
func TestTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, f := range forms {
		t.Run(f.name+" "+f.version, func(t *testing.T) {
			t.Parallel()
			told := make(chan string, 100)
			s := w.connect(t, f.name, f.version, func(m string) { told <- m })
			if got := s.InitializeResult().ProtocolVersion; got != f.version {
				t.Errorf("version %s", got)
			}
			list, err := s.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				if tool.OutputSchema == nil || tool.Annotations.ReadOnlyHint != (tool.Name != "talk_to_agent") {
					t.Errorf("%s: %+v", tool.Name, tool)
				}
			}
			if want := []string{"ask", "get_document", "list_agents", "list_corpora", "search", "talk_to_agent"}; !slices.Equal(names, want) {
				t.Errorf("tools %q", names)
			}
			call := func(name string, args map[string]any) string {
				t.Helper()
				p := &mcp.CallToolParams{Name: name, Arguments: args}
				p.SetProgressToken(name)
				r, err := s.CallTool(t.Context(), p)
				if err != nil || r.IsError || r.StructuredContent == nil {
					t.Fatalf("%s: %v %+v", name, err, r)
				}
				return text(r)
			}
			lamps := []string{"lamps"}
			for _, c := range []struct {
				tool string
				args map[string]any
				want string
			}{
				{"list_corpora", nil, `"corpus_key":"lamps","name":"Lamps","enabled":true,"documents":1`},
				{"search", map[string]any{"corpus_keys": lamps, "query": "return a lamp", "limit": 1}, `"document_id":"return","title":"Return of a lamp"`},
				{"ask", map[string]any{"corpus_keys": lamps, "query": "When may a lamp be returned?"}, `"sources":[{"number":1,"text":"A lamp may be returned within thirty days."`},
				{"get_document", map[string]any{"corpus_key": "lamps", "document_id": "return", "offset": 2, "limit": 4}, `"text":"lamp","total_characters":67,"next_offset":6`},
				{"list_agents", nil, `{"agent_key":"helper","name":"helper","enabled":true}`},
			} {
				if got := call(c.tool, c.args); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s, want %s", c.tool, got, c.want)
				}
			}
			var out struct {
				Session string `json:"session_key"`
				Answer  string `json:"answer"`
			}
			for range 2 {
				args := map[string]any{"agent_key": "helper", "message": "Until when?"}
				before := out.Session
				if before != "" {
					args["session_key"] = before
				}
				if err := json.Unmarshal([]byte(call("talk_to_agent", args)), &out); err != nil || out.Answer != "Within thirty days." || before != "" && out.Session != before {
					t.Errorf("%v %+v after %q", err, out, before)
				}
				for _, want := range []string{"session " + out.Session, "calls find", "find has answered"} {
					if got := <-told; got != want {
						t.Errorf("told %q, want %q", got, want)
					}
				}
			}
		})
	}
}

// TestCancel proves that a call of talk_to_agent which the client cancels, in the way of its form and version, interrupts the turn, and
// that the connection answers the next call.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, f := range forms {
		t.Run(f.name+" "+f.version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			s := w.connect(t, f.name, f.version, func(string) {})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "talk_to_agent", Arguments: map[string]any{"agent_key": "stuck", "message": "Go."}})
				done <- err
			}()
			<-w.gate.Reached()
			cancel()
			if err := <-done; err == nil {
				t.Error("the call has a result")
			}
			<-w.provider.Last().Gone // the test does not end if the turn goes on
			if got := w.events(t, "stuck"); strings.Contains(got, "two") {
				t.Errorf("events %s", got)
			}
			if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "list_agents"}); err != nil || r.IsError {
				t.Errorf("the next call: %v %+v", err, r)
			}
		})
	}
}

// TestCancelForeign proves that a cancellation ends no call of another conversation, of another caller or with another id, and that the request
// which breaks off ends its own.
func TestCancelForeign(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, raw := w.call(t, http.MethodPost, "/v2/api_keys", map[string]any{"name": "other", "api_roles": []string{"owner"}})
	var other struct {
		Secret string `json:"secret_key"`
	}
	if err := json.Unmarshal([]byte(raw), &other); err != nil || other.Secret == "" {
		t.Fatal(raw)
	}
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"talk_to_agent","arguments":{"agent_key":"stuck","message":"Go."},"_meta":{"progressToken":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]string{"x-api-key": w.owner, "Content-Type": "application/json", "Mcp-Session-Id": "mine"} {
		r.Header.Set(name, v)
	}
	res, err := w.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-w.gate.Reached()
	for _, c := range []struct{ key, session, id string }{{w.owner, "yours", `7`}, {other.Secret, "mine", `7`}, {w.owner, "mine", `"7"`}, {w.owner, "mine", `8`}, {w.owner, "mine", `{}`}} {
		status, got := w.send(t, http.MethodPost, "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+c.id+`}}`,
			map[string]string{"x-api-key": c.key, "Mcp-Session-Id": c.session})
		if status != http.StatusAccepted && status != http.StatusBadRequest {
			t.Errorf("%+v: %d %s", c, status, got)
		}
	}
	select {
	case <-w.provider.Last().Gone:
		t.Error("a foreign cancellation has ended the call")
	default:
	}
	leave()
	<-w.provider.Last().Gone
	if got := w.events(t, "stuck"); strings.Contains(got, "two") {
		t.Errorf("events %s", got)
	}
}

// TestStop proves that a service which stops answers a call of an agent with how to read on, and does not interrupt the turn, which goes on at the next
// start.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.connect(t, "http", "2025-11-25", func(string) {})
	done := make(chan *mcp.CallToolResult, 1)
	go func() {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "talk_to_agent", Arguments: map[string]any{"agent_key": "stuck", "message": "Go."}})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	<-w.gate.Reached()
	w.cut(fault.Unavailable("stopping", "the service is stopping"))
	if r := <-done; r == nil || !r.IsError || !strings.Contains(text(r), "stopping") || !strings.Contains(text(r), "ase_") {
		t.Errorf("result %+v", r)
	}
	select {
	case <-w.provider.Last().Gone:
		t.Error("the turn was interrupted")
	default:
	}
}

// TestEnded proves that the form for clients on the same machine ends at once when its process is told to, and interrupts the turn under way.
func TestEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server, err := mcpserve.NewServer(w, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in, send := io.Pipe()
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcpserve.Stdio(ctx, server, in, io.Discard) }()
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"talk_to_agent","arguments":{"agent_key":"stuck","message":"Go."}}}`,
	} {
		if _, err := io.WriteString(send, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-w.gate.Reached()
	end()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	<-w.provider.Last().Gone
	_ = send.Close() // which a process does by ending
}

// TestAudited proves that what tools do is recorded as the operations are that they call: who, from where.
func TestAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config.Config) { c.AuditContent = true })
	s := w.connect(t, "http", "2025-11-25", func(string) {})
	if r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "talk_to_agent", Arguments: map[string]any{"agent_key": "helper", "message": "Until when?"}}); err != nil || r.IsError {
		t.Fatalf("%v %+v", err, r)
	}
	_, got := w.call(t, http.MethodGet, "/v2/audit_events?action=createAgentInput", nil)
	for _, want := range []string{`"outcome":"succeeded"`, `"address":"127.0.0.1"`, `"kind":"user"`, `"agent_key":"helper"`} {
		if !strings.Contains(got, want) && !strings.Contains(got, strings.Replace(want, "kind", "type", 1)) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}

// TestLimited proves that messages and the operations of tools count against the rate of the credential: a message over it is refused, and a model
// whose tool is over it reads when to call again.
func TestLimited(t *testing.T) {
	t.Parallel()
	a, owner := apptest.Start(t, func(c *config.Config) { c.RateLimit, c.RateBurst = 1, 3 })
	for refused, told := false, false; !refused || !told; { // it does not end if one of them never comes
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agents"}}`))
		for name, v := range map[string]string{"x-api-key": owner, "Content-Type": "application/json", "Accept": "application/json"} {
			r.Header.Set(name, v)
		}
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		refused = refused || w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != ""
		told = told || w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"isError":true`) && strings.Contains(w.Body.String(), "Call again in ")
	}
}

// TestNodes proves that several nodes behind a balancer without stickiness serve a conversation, each request at another node: the beginning, the
// list, a talk that goes on, and in the newest version of the protocol a cancellation.
func TestNodes(t *testing.T) {
	t.Parallel()
	database, folder := storetest.Postgres(t), t.TempDir()
	first, owner := apptest.Start(t, func(c *config.Config) { c.Database = database })
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(first.KeyFile()), "secret.key"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "secret.key"), raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	second, _ := apptest.Start(t, func(c *config.Config) { c.Data, c.Database = folder, database })
	nodes := []http.Handler{first.Handler(), second.Handler()}
	var turn atomic.Int64
	w := newWorldOf(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { nodes[turn.Add(1)%2].ServeHTTP(rw, r) }), owner)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		s := w.connect(t, "http", version, func(string) {})
		args, sessions := map[string]any{"agent_key": "helper", "message": "Until when?"}, map[string]bool{}
		for range 3 {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "talk_to_agent", Arguments: args})
			if err != nil || r.IsError {
				t.Fatalf("%s: %v %+v", version, err, r)
			}
			var out struct {
				Session string `json:"session_key"`
			}
			if err := json.Unmarshal([]byte(text(r)), &out); err != nil {
				t.Fatal(err)
			}
			args["session_key"] = out.Session
			sessions[out.Session] = true
		}
		if len(sessions) != 1 {
			t.Errorf("%s: sessions %v", version, sessions)
		}
	}
	s := w.connect(t, "http", "2026-07-28", func(string) {})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "talk_to_agent", Arguments: map[string]any{"agent_key": "stuck", "message": "Go."}})
		done <- err
	}()
	<-w.gate.Reached()
	cancel()
	if err := <-done; err == nil {
		t.Error("the call has a result")
	}
	<-w.provider.Last().Gone // the test does not end if the turn goes on
}

// TestRefused proves that a tool says what a model can do about a refusal: a wrong key, a rate that is used up, an agent that is disabled, one that fails
// or waits for its client, a session that is elsewhere.
func TestRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := w.connect(t, "http", "2025-11-25", func(string) {})
	w.must(t, "/v2/llms", map[string]any{"type": "openai-compatible", "name": "failing", "model": "failing", "uri": w.provider.URL + "/v1/chat/completions", "capabilities": map[string]any{"tool_calling": true}})
	w.provider.Model("failing", scripted.Reply{Fault: scripted.Rejected})
	w.must(t, "/v2/tools", map[string]any{"type": "client", "name": "approve", "title": "Approve", "description": "Asks.", "input_schema": map[string]any{"type": "object"}})
	_, raw := w.call(t, http.MethodGet, "/v2/tools?type=client", nil)
	_, id, _ := strings.Cut(raw, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	for key, more := range map[string]map[string]any{
		"failing":  {"model": map[string]any{"name": "failing"}},
		"disabled": {"model": map[string]any{"name": "helper"}, "enabled": false},
		"parks":    {"model": map[string]any{"name": "helper"}, "tool_configurations": map[string]any{"find": map[string]any{"type": "client", "tool_id": id}}},
	} {
		more["key"], more["name"], more["first_step"] = key, key, map[string]any{"name": "answer"}
		w.must(t, "/v2/agents", more)
	}
	for _, c := range []struct {
		tool string
		args map[string]any
		want []string
	}{
		{"talk_to_agent", map[string]any{"agent_key": "nobody", "message": "x"}, []string{"nobody", "list_agents"}},
		{"talk_to_agent", map[string]any{"agent_key": "helper", "message": "x", "session_key": "ase_none"}, []string{"ase_none", "Leave session_key out"}},
		{"talk_to_agent", map[string]any{"agent_key": "disabled", "message": "x"}, []string{"disabled"}},
		{"talk_to_agent", map[string]any{"agent_key": "failing", "message": "x"}, []string{"session_key", "ase_"}},
		{"talk_to_agent", map[string]any{"agent_key": "parks", "message": "x"}, []string{"find", "client of its own", "ase_"}},
		{"talk_to_agent", map[string]any{"agent_key": "helper", "message": 7}, []string{"input schema", "message"}},
		{"talk_to_agent", map[string]any{"agent_key": "helper"}, []string{"input schema", "message"}},
		{"talk_to_agent", map[string]any{"agent_key": "../helper", "message": "x"}, []string{"agent"}},
		{"search", map[string]any{"corpus_keys": []string{"none"}, "query": "x"}, []string{"none", "list_corpora"}},
		{"search", map[string]any{"corpus_keys": []string{"lamps"}, "query": "x", "metadata_filter": "doc."}, []string{"metadata_filter"}},
		{"search", map[string]any{"corpus_keys": []string{"lamps"}, "query": "x", "corpus": "lamps"}, []string{"input schema", "corpus"}},
		{"search", map[string]any{"corpus_keys": []string{"lamps"}, "query": "x", "limit": 51}, []string{"limit", "50"}},
		{"search", map[string]any{"corpus_keys": []string{"a b"}, "query": "x"}, []string{"corpus_keys"}},
		{"get_document", map[string]any{"corpus_key": "lamps", "document_id": "none"}, []string{"none", "search"}},
		{"get_document", map[string]any{"corpus_key": "lamps", "document_id": "return", "offset": 68}, []string{"offset", "67"}},
	} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil || !r.IsError {
			t.Errorf("%s %v: %v %+v", c.tool, c.args, err, r)
			continue
		}
		for _, want := range c.want {
			if got := text(r); !strings.Contains(got, want) || strings.Contains(got, "body.") || strings.Contains(got, "..") && c.args["agent_key"] != "../helper" {
				t.Errorf("%s %v: %s, want %q", c.tool, c.args, got, want)
			}
		}
		if got := text(r); c.args["session_key"] == "ase_none" && strings.Contains(got, "go on with it") {
			t.Errorf("a session that is not there is offered to go on with: %s", got)
		}
	}
}

// TestGarbage proves that what is no message of the protocol, too large, asked in a wrong way or from a foreign page is refused as everywhere in the interface, and that pages
// of allowed origins get an answer that they may read.
func TestGarbage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config.Config) { c.AllowedOrigins = "https://app.example.com" })
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct {
		method, body string
		headers      map[string]string
		status       int
		want         string
	}{
		{"POST", ping, nil, 200, `"result":{}`},
		{"POST", ping, map[string]string{"Content-Type": "application/json; charset=utf-8", "Accept": "application/json"}, 200, `"result":{}`},
		{"POST", ping, map[string]string{"Origin": "https://app.example.com"}, 200, `"result":{}`},
		{"POST", ping, map[string]string{"Origin": "https://evil.example.com"}, 403, "allowed_origins"},
		{"POST", ping, map[string]string{"Origin": "null"}, 403, "allowed_origins"},
		{"POST", ping, map[string]string{"Origin": w.URL}, 403, "allowed_origins"},
		{"POST", ping, map[string]string{"x-api-key": "zqt_wrong"}, 401, "messages"},
		{"POST", ping, map[string]string{"Content-Type": "text/plain"}, 415, "application/json"},
		{"POST", ping, map[string]string{"MCP-Protocol-Version": "1999-01-01"}, 400, "version"},
		{"POST", ping, map[string]string{"Last-Event-ID": "1"}, 400, "Last-Event-ID"},
		{"POST", "no JSON", nil, 400, "field_errors"},
		{"POST", "", nil, 400, "field_errors"},
		{"POST", "[" + ping + "]", nil, 400, "field_errors"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"corpora/eat"}`, nil, 400, "corpora/eat"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{}}}`,
			map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen"}, 404, "-32601"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400, ""},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 100_000) + `"}}`, nil, 200, "error"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":[]}}`, nil, 200, "input schema"},
		{"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 50<<20) + `"}}`, nil, 413, "max_json"},
		{"GET", "", map[string]string{"Accept": "text/event-stream"}, 405, "POST"},
		{"DELETE", "", map[string]string{"Mcp-Session-Id": "x"}, 405, "POST"},
		{"OPTIONS", "", map[string]string{"Origin": "https://app.example.com", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "mcp-session-id"}, 204, ""},
		{"OPTIONS", "", map[string]string{"Origin": "https://evil.example.com", "Access-Control-Request-Method": "POST"}, 403, "allowed_origins"},
	} {
		status, got := w.send(t, c.method, "/mcp", c.body, c.headers)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%s %.100s %v: %d %.300s, want %d %s", c.method, c.body, c.headers, status, got, c.status, c.want)
		}
	}
}

// TestLines proves that the form for clients on the same machine refuses lines that are no messages, reads on behind them, answers what was asked
// before its input ended, and writes messages alone.
func TestLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	server, err := mcpserve.NewServer(w, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`hello`, ``, `[]`, `{"jsonrpc":"2.0"}`, strings.Repeat("x", 20<<20),
		`{"jsonrpc":"2.0","id":2,"method":"corpora/eat"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"talk_to_agent","arguments":{"agent_key":"helper","message":"Until when?"}}}`,
	}, "\n")
	var out bytes.Buffer
	if err := mcpserve.Stdio(t.Context(), server, strings.NewReader(in), &out); err != nil && err != io.EOF {
		t.Error(err)
	}
	var codes []int
	answers := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Error   struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("line %q: %v", line, err)
		}
		if m.Error.Code != 0 {
			codes = append(codes, m.Error.Code)
		}
		answers[string(m.ID)] = line
	}
	slices.Sort(codes)
	if want := []int{-32700, -32601, -32600, -32600, -32600}; !slices.Equal(codes, want) {
		t.Errorf("errors %d, want %d", codes, want)
	}
	if !strings.Contains(answers["3"], "Within thirty days.") {
		t.Errorf("answer %s", answers["3"])
	}
}

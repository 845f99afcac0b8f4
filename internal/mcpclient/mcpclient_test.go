package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"quarry/internal/agent/tool/server"
	"quarry/internal/id"
	"quarry/internal/mcpclient"
	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newClient returns a client that is stopped with the test.
func newClient(t *testing.T, change func(*mcpclient.Config)) *mcpclient.Client {
	t.Helper()
	h := outbound.New(outbound.Config{AllowPrivate: true})
	cfg := mcpclient.Config{HTTP: h, Tokens: oauth.NewClient(h, nil), Version: "test", Connect: 10 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c := mcpclient.New(cfg)
	t.Cleanup(func() { c.Stop(); h.CloseIdleConnections() })
	return c
}

// double is a server made with the library, and what it has seen.
type double struct {
	*httptest.Server
	transport string
	stopped   chan struct{} // has an element for each call of "hang" that was cancelled
	began     chan struct{} // has an element for each call of "hang"

	mu      sync.Mutex
	handler http.Handler // guarded by mu
	methods []string     // JSON-RPC and HTTP methods; guarded by mu
	headers http.Header  // of the last message; guarded by mu
	servers []*mcp.Server
}

var transports = []string{server.Streamable, server.SSE}

func newDouble(t *testing.T, transport string) *double {
	t.Helper()
	d := &double{transport: transport, stopped: make(chan struct{}, 100), began: make(chan struct{}, 100)}
	d.restart()
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct{ Method string }
		_ = json.Unmarshal(body, &m)
		d.mu.Lock()
		h := d.handler
		d.methods = append(d.methods, r.Method+" "+m.Method)
		if r.Method == http.MethodPost {
			d.headers = r.Header.Clone()
		}
		d.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		d.CloseClientConnections()
		d.Close()
		for _, one := range d.servers {
			for session := range one.Sessions() {
				_ = session.Close()
			}
		}
	})
	return d
}

// restart makes the server forget its sessions.
func (d *double) restart() {
	one := d.tools()
	get := func(*http.Request) *mcp.Server { return one }
	d.mu.Lock()
	defer d.mu.Unlock()
	d.servers = append(d.servers, one)
	if d.transport == server.SSE {
		d.handler = mcp.NewSSEHandler(get, nil)
	} else {
		d.handler = mcp.NewStreamableHTTPHandler(get, nil)
	}
}

func (d *double) target() server.Target {
	return server.Target{ID: id.ToolServer("tsr_" + d.transport), Revision: 1, URI: d.URL, Transport: d.transport}
}

// seen returns how often a message came.
func (d *double) seen(method string) (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.methods {
		if m == method {
			n++
		}
	}
	return n
}

// header returns the headers of the last message.
func (d *double) header() http.Header {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.headers
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func (d *double) tools() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "double", Version: "1"}, nil)
	any := json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer","maximum":12345678901234567890},"a":{}}}`)
	add := func(name string, h mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, Title: "T " + name, Description: "does " + name, InputSchema: any, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, h)
	}
	add("echo", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(r.Params.Arguments)), nil
	})
	add("number", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out := text("n")
		out.StructuredContent = json.RawMessage(`{"n":12345678901234567890}`)
		return out, nil
	})
	add("files", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "see"}, &mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("wav"), MIMEType: "audio/wav"},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.bin", MIMEType: "application/zip", Blob: []byte("zip")}},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a.txt", MIMEType: "text/plain", Text: "hello"}},
			&mcp.ResourceLink{URI: "https://example.com/", Name: "page", MIMEType: "text/html", Description: "a page"},
		}}, nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		out := text("no such city")
		out.IsError = true
		return out, nil
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		d.began <- struct{}{}
		<-ctx.Done()
		d.stopped <- struct{}{}
		return nil, ctx.Err()
	})
	add("steps", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i, message := range []string{"one", "", "two\nlines"} {
			p := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 4, Message: message}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
		}
		return text("done"), nil
	})
	add("credentials", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(fmt.Sprint(d.header())), nil
	})
	return s
}

func call(t *testing.T, c *mcpclient.Client, to server.Target, name, arguments string) server.Result {
	t.Helper()
	r, err := c.Call(t.Context(), to, name, json.RawMessage(arguments), nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func said(r server.Result) string {
	var all []string
	for _, b := range r.Content {
		all = append(all, b.Text)
	}
	return strings.Join(all, "|")
}

// each runs a test on both transports.
func each(t *testing.T, test func(t *testing.T, d *double)) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			test(t, newDouble(t, transport))
		})
	}
}

// TestCalls proves what comes back of calls: every kind of content, structured content with its numbers, failures of the tool, and
// errors of the protocol; and that the list has the tools as the server wrote them.
func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, nil)
		if got := said(call(t, c, d.target(), "echo", `{"a":"ü","n":12345678901234567890}`)); got != `{"a":"ü","n":12345678901234567890}` {
			t.Errorf("echo: %s", got)
		}
		if got := said(call(t, c, d.target(), "echo", "")); got != "{}" {
			t.Errorf("no arguments arrive as %s", got)
		}
		if got := call(t, c, d.target(), "number", "{}"); string(got.Structured) != `{"n":12345678901234567890}` {
			t.Errorf("structured: %s", got.Structured)
		}
		if d := cmp.Diff([]server.Block{
			{Type: "text", Text: "see"}, {Type: "image", MIME: "image/png", Data: []byte("png")}, {Type: "audio", MIME: "audio/wav", Data: []byte("wav")},
			{Type: "resource", MIME: "application/zip", URI: "file:///a.bin", Data: []byte("zip")}, {Type: "resource", MIME: "text/plain", URI: "file:///a.txt", Text: "hello"},
			{Type: "resource_link", MIME: "text/html", URI: "https://example.com/", Name: "page", Text: "a page"},
		}, call(t, c, d.target(), "files", "{}").Content); d != "" {
			t.Error(d)
		}
		if got := call(t, c, d.target(), "fail", "{}"); !got.Failed || said(got) != "no such city" {
			t.Errorf("%+v", got)
		}
		_, err := c.Call(t.Context(), d.target(), "none", nil, nil)
		if err == nil || errors.Is(err, server.ErrUnavailable) || !strings.Contains(err.Error(), "refused the request") || !strings.Contains(err.Error(), "none") {
			t.Errorf("an unknown tool: %v", err)
		}
		list, err := c.List(t.Context(), d.target())
		if err != nil || len(list) != 7 {
			t.Fatalf("%d tools, %v", len(list), err)
		}
		yes := true
		if d := cmp.Diff(server.Listed{
			Name: "credentials", Title: "T credentials", Description: "does credentials", Input: json.RawMessage(`{"type":"object","properties":{"z":{"type":"integer","maximum":12345678901234567890},"a":{}}}`),
			ReadOnly: &yes, Idempotent: list[0].Idempotent,
		}, list[0]); d != "" {
			t.Error(d)
		}
		if n := d.seen("POST initialize"); n != 1 {
			t.Errorf("%d sessions were opened", n)
		}
	})
}

// TestProgress proves that what a server tells of a call reaches whoever made it, as lines.
func TestProgress(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, nil)
		heard := make(chan string, 10)
		if _, err := c.Call(t.Context(), d.target(), "steps", nil, func(s string) { heard <- s }); err != nil {
			t.Fatal(err)
		}
		close(heard)
		var all []string
		for s := range heard {
			all = append(all, s)
		}
		if got := strings.Join(all, "|"); got != "one|1 of 4|two lines" {
			t.Errorf("heard %q", got)
		}
	})
}

// TestStopped proves that a call whose caller stops ends at once, that the server is told, and that the session goes on.
func TestStopped(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, nil)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-d.began; cancel(gone) }()
		if _, err := c.Call(ctx, d.target(), "hang", nil, nil); !errors.Is(err, gone) {
			t.Fatal(err)
		}
		<-d.stopped
		call(t, c, d.target(), "echo", "{}")
		if d.seen("POST notifications/cancelled") != 1 || d.seen("POST initialize") != 1 {
			t.Errorf("%v", d.methods)
		}
	})
}

// TestSessions proves that a session serves many calls at once, is opened anew when the server has forgotten it, when its settings have
// changed and when it was closed, and that it ends when nobody has used it for a time.
func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, nil)
		at := d.target()
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				r, err := c.Call(t.Context(), at, "echo", json.RawMessage(fmt.Sprintf(`{"i":%d}`, i)), nil)
				if err != nil || said(r) != fmt.Sprintf(`{"i":%d}`, i) {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		all.Wait()
		opened := func(want int, when string) {
			t.Helper()
			if n := d.seen("POST initialize"); n != want {
				t.Errorf("%s: %d sessions were opened, want %d", when, n, want)
			}
		}
		opened(1, "32 calls at once")
		d.restart()
		call(t, c, at, "echo", "{}")
		opened(2, "forgotten by the server")
		at.Revision = 2
		call(t, c, at, "echo", "{}")
		opened(3, "changed")
		at.Revision = 1
		call(t, c, at, "echo", "{}")
		opened(3, "a caller who is late")
		c.Close(at.ID)
		c.Close("tsr_other")
		call(t, c, at, "echo", "{}")
		opened(4, "closed")
	})
}

// TestIdle proves that a session ends when nobody has used it for a time, and that the next call opens one.
func TestIdle(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, func(cfg *mcpclient.Config) { cfg.Idle = time.Nanosecond })
		for i := range 3 {
			call(t, c, d.target(), "echo", "{}")
			for d.transport == server.Streamable && d.seen("DELETE ") <= i {
				time.Sleep(time.Millisecond) // until the server hears of the end
			}
		}
		if n := d.seen("POST initialize"); d.transport == server.Streamable && n != 3 {
			t.Errorf("%d sessions", n)
		}
	})
}

// TestStop proves that a client which is stopped ends its calls and takes no others.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		c := newClient(t, nil)
		go func() { <-d.began; c.Stop() }()
		if _, err := c.Call(t.Context(), d.target(), "hang", nil, nil); err == nil || !strings.Contains(err.Error(), "stopping") {
			t.Errorf("%v", err)
		}
		if _, err := c.Call(t.Context(), d.target(), "echo", nil, nil); err == nil {
			t.Error("a stopped client calls")
		}
	})
}

// TestCredentials proves what each kind of credentials sends, below which headers of the server's settings stand, and that a server which
// repeats them tells nobody.
func TestCredentials(t *testing.T) {
	each(t, func(t *testing.T, d *double) {
		var asked atomic.Int64
		tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"access_token":"access-%d","expires_in":3600}`, asked.Add(1))
		}))
		t.Cleanup(tokens.Close)
		c := newClient(t, nil)
		at := d.target()
		for _, k := range []struct {
			auth *server.Auth
			want map[string]string
		}{
			{nil, map[string]string{"X-Team": "search", "X-Api-Key": "key-in-header"}},
			{&server.Auth{Type: server.Bearer, Token: "bearer-token"}, map[string]string{"Authorization": "Bearer bearer-token"}},
			{&server.Auth{Type: server.Header, Header: "X-Gate", Value: "gate-value"}, map[string]string{"X-Gate": "gate-value", "Authorization": "Basic own"}},
			{&server.Auth{Type: server.ClientCredentials, ClientID: "me", ClientSecret: "client-secret", TokenEndpoint: tokens.URL}, map[string]string{"Authorization": "Bearer access-1"}},
		} {
			at.Revision++
			at.Auth, at.Headers = k.auth, map[string]string{"X-Team": "search", "X-Api-Key": "key-in-header", "Authorization": "Basic own", "Mcp-Session-Id": "mine", "User-Agent": "x"}
			got := said(call(t, c, at, "credentials", "{}"))
			for name, value := range k.want {
				if d.header().Get(name) != value {
					t.Errorf("%v: %s is %q, want %q", k.want, name, d.header().Get(name), value)
				}
			}
			if d.header().Get("User-Agent") != "quarry" || d.header().Get("Mcp-Session-Id") == "mine" && d.transport == server.Streamable || d.header().Get("Mcp-Protocol-Version") == "" {
				t.Errorf("%v", d.header())
			}
			if !strings.Contains(got, "search") || strings.Contains(got, "key-in-header") {
				t.Errorf("the server repeats %s", got)
			}
			for _, value := range k.want {
				if value != "search" && value != "Basic own" && strings.Contains(got, strings.TrimPrefix(value, "Bearer ")) {
					t.Errorf("the server repeats %s", got)
				}
			}
		}
	})
}

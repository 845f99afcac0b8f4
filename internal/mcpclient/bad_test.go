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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"quarry/internal/agent/tool/server"
	"quarry/internal/mcpclient"
)

const hush = "hush-hush-token"

// raw is a server that speaks the protocol by hand, and does something else at one step.
type raw struct {
	*httptest.Server
	transport string
	foreign   *httptest.Server
	reached   atomic.Int64 // calls of foreign
	released  chan struct{}

	mu         sync.Mutex
	step, does string      // guarded by mu
	out        chan string // events of the stream; guarded by mu
}

func newRaw(t *testing.T, transport string) *raw {
	t.Helper()
	s := &raw{transport: transport, released: make(chan struct{})}
	s.foreign = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { s.reached.Add(1) }))
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		close(s.released)
		for _, one := range []*httptest.Server{s.Server, s.foreign} {
			one.CloseClientConnections()
			one.Close()
		}
	})
	return s
}

func (s *raw) target() server.Target {
	return server.Target{ID: "tsr_raw", Revision: 1, URI: s.URL + "/mcp", Transport: s.transport, Auth: &server.Auth{Type: server.Bearer, Token: hush}}
}

func (s *raw) misbehave(step, does string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step, s.does = step, does
}

func (s *raw) doing(step string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.step == step {
		return s.does
	}
	return ""
}

const results = `{"initialize":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}},` +
	`"tools/list":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]},"tools/call":{"content":[{"type":"text","text":"fine"}]}}`

func (s *raw) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(body, &m)
	step := m.Method
	if r.Method == http.MethodGet {
		step = "connect"
	}
	does := s.doing(step)
	if s.head(w, r, does) {
		return
	}
	switch {
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case r.Method == http.MethodDelete || m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		s.reply(w, m.ID, m.Method, does)
	}
}

// head does what is done in the place of any answer, and reports whether it did.
func (s *raw) head(w http.ResponseWriter, r *http.Request, does string) bool {
	switch does {
	case "hang":
		select {
		case <-r.Context().Done():
		case <-s.released:
		}
	case "page":
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><title>Sign in</title>"+r.Header.Get("Authorization"))
	case "500":
		w.WriteHeader(500)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"broken, said %s"}}`, r.Header.Get("Authorization"))
	case "401":
		w.WriteHeader(401)
	case "404":
		w.WriteHeader(404)
	case "redirect":
		http.Redirect(w, r, s.foreign.URL+"/mcp", http.StatusTemporaryRedirect)
	case "vanish":
		panic(http.ErrAbortHandler)
	default:
		return false
	}
	return true
}

// reply answers a request, by the stream where there is one.
func (s *raw) reply(w http.ResponseWriter, which json.RawMessage, method, does string) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(results), &all)
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, which, all[method])
	switch does {
	case "huge":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`, which, strings.Repeat("x", 50<<20))
	case "garbage":
		answer = `{"jsonrpc":"2.0","id":`
	case "wrong":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":5}`, which)
	case "asks":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"inputRequests":{"a":{"method":"elicitation/create"}}}}`, which)
	case "error":
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"not with %s\nat all"}}`, which, hush)
	}
	if s.transport == server.Streamable {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Mcp-Session-Id", "s1")
		_, _ = io.WriteString(w, answer)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	s.mu.Lock()
	out := s.out
	s.mu.Unlock()
	out <- answer
}

func (s *raw) stream(w http.ResponseWriter, r *http.Request) {
	out := make(chan string, 10)
	s.mu.Lock()
	s.out = out
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, "event: endpoint\ndata: /messages\n\n")
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case one := <-out:
			_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", one)
		case <-r.Context().Done():
			return
		case <-s.released:
			return
		}
	}
}

// TestBadServers proves that whatever a server does in the place of an answer, at every step, is one error that says what it did,
// in bounded time, without a secret; and that the next call succeeds if the server has come to its senses.
func TestBadServers(t *testing.T) {
	t.Parallel()
	says := map[string]string{
		"hang": "", "page": "web page", "500": "status 500", "401": "refuses the credentials", "404": "status 404", "redirect": "another origin",
		"vanish": "", "huge": "more than 16 MiB", "garbage": "", "wrong": "", "asks": "asks for a model", "error": "not with **** at all (code -32000)",
	}
	unavailable := map[string]bool{"hang": true, "500": true, "401": true, "404": true, "vanish": true}
	for _, transport := range transports {
		for _, step := range []string{"connect", "initialize", "tools/call", "tools/list"} {
			for does, want := range says {
				if transport == server.Streamable && step == "connect" || step == "connect" && want == "" && does != "hang" && does != "vanish" ||
					(step == "connect" || step == "initialize") && (does == "huge" || does == "asks" || does == "error") || does == "asks" && step != "tools/call" {
					continue // there is no such step, or nothing is answered in it
				}
				t.Run(transport+" "+step+" "+does, func(t *testing.T) {
					t.Parallel()
					s := newRaw(t, transport)
					c := newClient(t, func(cfg *mcpclient.Config) {
						if does == "hang" {
							cfg.Connect = time.Second
						}
					})
					use := func(ctx context.Context) error {
						if step == "tools/list" {
							_, err := c.List(ctx, s.target())
							return err
						}
						_, err := c.Call(ctx, s.target(), "echo", nil, nil)
						return err
					}
					s.misbehave(step, does)
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					defer cancel()
					if does == "hang" && strings.HasPrefix(step, "tools/") {
						ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
						defer cancel()
					}
					err := use(ctx)
					if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), hush) {
						t.Fatalf("%v, want %q", err, want)
					}
					if does == "hang" && strings.HasPrefix(step, "tools/") {
						if !errors.Is(err, context.DeadlineExceeded) {
							t.Errorf("%v", err)
						}
					} else if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, server.ErrUnavailable) != unavailable[does] && does != "garbage" && does != "wrong" {
						t.Errorf("%v: unavailable is %v", err, errors.Is(err, server.ErrUnavailable))
					}
					if s.reached.Load() != 0 {
						t.Error("a redirect to another origin was followed")
					}
					s.misbehave("", "")
					if err := use(t.Context()); err != nil {
						t.Errorf("the next call: %v", err)
					}
				})
			}
		}
	}
}

// TestBesideBadCalls proves that an answer that is refused ends its own call alone: another one in the same session goes on.
func TestBesideBadCalls(t *testing.T) {
	t.Parallel()
	for _, does := range []string{"huge", "garbage", "page", "500", "error"} {
		s := newRaw(t, server.Streamable)
		c := newClient(t, nil)
		release := make(chan struct{})
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(string(body), `"slow"`) {
				<-release
				s.misbehave("", "")
			}
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			s.ServeHTTP(w, r)
		})
		if _, err := c.Call(t.Context(), s.target(), "echo", nil, nil); err != nil {
			t.Fatal(err)
		}
		s.misbehave("tools/call", does)
		var slow error
		var done sync.WaitGroup
		done.Go(func() { _, slow = c.Call(t.Context(), s.target(), "slow", nil, nil) })
		if _, err := c.Call(t.Context(), s.target(), "echo", nil, nil); err == nil {
			t.Errorf("%s: no error", does)
		}
		close(release)
		done.Wait()
		if slow != nil {
			t.Errorf("%s: the other call failed, too: %v", does, slow)
		}
	}
}

// TestRefusals proves that servers are offered no model, no person and no folders, and that one which asks for them during a call is
// refused each and can answer the call all the same.
func TestRefusals(t *testing.T) {
	t.Parallel()
	asks := []string{"sampling/createMessage", "elicitation/create", "roots/list"}
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			s := newRaw(t, transport)
			refused := make(chan int64, len(asks))
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				var m struct {
					ID     json.RawMessage
					Method string
					Error  struct{ Code int64 }
					Params struct{ Capabilities map[string]json.RawMessage }
				}
				_ = json.Unmarshal(body, &m)
				for _, offered := range []string{"sampling", "elicitation", "roots"} {
					if _, ok := m.Params.Capabilities[offered]; ok {
						t.Errorf("it offers %s", offered)
					}
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				switch {
				case m.Method == "" && m.ID != nil:
					refused <- m.Error.Code
					w.WriteHeader(http.StatusAccepted)
				case m.Method == "tools/call":
					s.ask(w, m.ID, asks, refused)
				default:
					s.ServeHTTP(w, r)
				}
			})
			if got := said(call(t, newClient(t, nil), s.target(), "echo", "{}")); got != "sampling/createMessage|elicitation/create|roots/list" {
				t.Errorf("refused: %s", got)
			}
		})
	}
}

// ask answers a call with the methods that the client refuses, each asked for in a message on the way of the answer.
func (s *raw) ask(w http.ResponseWriter, which json.RawMessage, methods []string, refused <-chan int64) {
	send := func(m string) {
		_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", m)
		_ = http.NewResponseController(w).Flush()
	}
	if s.transport == server.Streamable {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.WriteHeader(http.StatusAccepted)
		_ = http.NewResponseController(w).Flush()
		s.mu.Lock()
		out := s.out
		s.mu.Unlock()
		send = func(m string) { out <- m }
	}
	var content []string
	for i, method := range methods {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"ask-%d","method":%q,"params":{}}`, i, method))
		select {
		case code := <-refused:
			if code == jsonrpc.CodeMethodNotFound {
				content = append(content, fmt.Sprintf(`{"type":"text","text":%q}`, method))
			}
		case <-s.released:
			return
		}
	}
	send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[%s]}}`, which, strings.Join(content, ",")))
}

// TestLists proves that lists come in pages, and that those without an end, with too many tools, or with a definition that is too
// large end soon.
func TestLists(t *testing.T) {
	t.Parallel()
	page := func(from, to int, next string) string {
		var all []string
		for i := from; i < to; i++ {
			all = append(all, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
		}
		return fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, strings.Join(all, ","), next)
	}
	for name, k := range map[string]struct {
		pages map[string]string // by cursor
		want  int
		says  string
	}{
		"pages":            {map[string]string{"": page(0, 3, "a"), "a": page(3, 5, "b"), "b": page(5, 6, "")}, 6, ""},
		"10,000 tools":     {map[string]string{"": page(0, 10_000, "")}, server.MaxTools + 1, ""},
		"pages of 600":     {map[string]string{"": page(0, 600, "a"), "a": page(600, 1200, "b")}, server.MaxTools + 1, ""},
		"the same cursor":  {map[string]string{"": page(0, 1, "a"), "a": page(0, 1, "a")}, 0, "has no end"},
		"a large tool":     {map[string]string{"": `{"tools":[{"name":"big","description":"` + strings.Repeat("x", 70<<10) + `"}]}`}, 0, `its tool "big" has more than 64 KiB`},
		"blanks in a tool": {map[string]string{"": `{"tools":[{"name":"wide",` + strings.Repeat(" ", 70<<10) + `"inputSchema":{}}]}`}, 1, ""},
		"no tools":         {map[string]string{"": `{"tools":[]}`}, 0, ""},
		"null":             {map[string]string{"": `{"tools":null}`}, 0, "no list of tools"},
		"nothing":          {map[string]string{"": `{}`}, 0, "no list of tools"},
		"no object":        {map[string]string{"": `[]`}, 0, "no list of tools"},
		"no tool":          {map[string]string{"": `{"tools":["a"]}`}, 0, "its tool 1 can't be read"},
	} {
		at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
				Params struct{ Cursor string }
			}
			_ = json.NewDecoder(r.Body).Decode(&m)
			w.Header().Set("Content-Type", "application/json")
			switch m.Method {
			case "initialize":
				var all map[string]json.RawMessage
				_ = json.Unmarshal([]byte(results), &all)
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, all["initialize"])
			case "tools/list":
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, k.pages[m.Params.Cursor])
			default:
				w.WriteHeader(http.StatusAccepted)
			}
		}))
		t.Cleanup(at.Close)
		list, err := newClient(t, nil).List(t.Context(), server.Target{ID: "tsr_a", URI: at.URL, Transport: server.Streamable})
		if k.says == "" && err != nil || k.says != "" && (err == nil || !strings.Contains(err.Error(), k.says)) || len(list) != k.want {
			t.Errorf("%s: %d tools, %v; want %d, %q", name, len(list), err, k.want, k.says)
		}
	}
}

// TestOrigins proves that redirects within the origin are followed with credentials, and that a server can't have its messages sent
// elsewhere.
func TestOrigins(t *testing.T) {
	t.Parallel()
	s := newRaw(t, server.Streamable)
	own := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return
		}
		if r.Header.Get("Authorization") != "Bearer "+hush {
			w.WriteHeader(401)
			return
		}
		own.ServeHTTP(w, r)
	})
	if _, err := newClient(t, nil).Call(t.Context(), s.target(), "echo", nil, nil); err != nil {
		t.Error(err)
	}
	elsewhere := newRaw(t, server.SSE)
	bad := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", elsewhere.foreign.URL)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(func() { bad.CloseClientConnections(); bad.Close() })
	_, err := newClient(t, nil).Call(t.Context(), server.Target{ID: "tsr_a", URI: bad.URL, Transport: server.SSE}, "echo", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "at another origin") || elsewhere.reached.Load() != 0 {
		t.Errorf("%v", err)
	}
}

// TestRenewal proves that an access token which the server refuses is renewed once, and that one which is refused again is the error.
func TestRenewal(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"access_token":"access-%d","expires_in":3600}`, asked.Add(1))
	}))
	t.Cleanup(tokens.Close)
	var valid atomic.Value
	valid.Store("access-1")
	s := newRaw(t, server.Streamable)
	own := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+valid.Load().(string) {
			w.WriteHeader(401)
			return
		}
		own.ServeHTTP(w, r)
	})
	at := s.target()
	at.Auth = &server.Auth{Type: server.ClientCredentials, ClientID: "me", ClientSecret: hush, TokenEndpoint: tokens.URL}
	c := newClient(t, nil)
	for i, token := range []string{"access-1", "access-2"} {
		valid.Store(token)
		if _, err := c.Call(t.Context(), at, "echo", nil, nil); err != nil || asked.Load() != int64(i+1) {
			t.Fatalf("%s: %v after %d tokens", token, err, asked.Load())
		}
	}
	valid.Store("none")
	if _, err := c.Call(t.Context(), at, "echo", nil, nil); !errors.Is(err, server.ErrUnavailable) || !strings.Contains(err.Error(), "refuses the credentials") {
		t.Errorf("%v", err)
	}
	tokens.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	at.Auth.ClientID, at.Revision = "other", 2
	if _, err := c.Call(t.Context(), at, "echo", nil, nil); !errors.Is(err, server.ErrUnavailable) || !strings.Contains(err.Error(), "token endpoint") || strings.Contains(err.Error(), hush) {
		t.Errorf("%v", err)
	}
}

// TestForgotten proves that a call is made once more in a new session when the server says, in any of the usual ways, that it does not know
// the session; and that a server which says so of a new session is not asked again.
func TestForgotten(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusBadRequest} {
		var opened, known atomic.Int64
		s := newRaw(t, server.Streamable)
		own := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			if strings.Contains(string(body), `"initialize"`) {
				opened.Add(1)
				known.Add(1)
			} else if known.Load() <= 0 {
				http.Error(w, "Bad Request: No valid session ID provided", status)
				return
			}
			own.ServeHTTP(w, r)
		})
		c := newClient(t, nil)
		for range 2 {
			if _, err := c.Call(t.Context(), s.target(), "echo", nil, nil); err != nil {
				t.Errorf("%d: %v", status, err)
			}
			known.Store(0)
		}
		if opened.Load() != 2 {
			t.Errorf("%d: %d sessions were opened", status, opened.Load())
		}
		known.Store(-10)
		if _, err := c.Call(t.Context(), s.target(), "echo", nil, nil); err == nil || !strings.Contains(err.Error(), "No valid session ID") || opened.Load() != 3 {
			t.Errorf("%d: %v after %d sessions", status, err, opened.Load())
		}
	}
}

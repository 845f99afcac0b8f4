// Package doors proves that nothing leaves a running service past its guard: one table of addresses, names and redirects goes
// through every door, which is a way by which somebody who uses the service can make it call an address.
package doors

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"quarry/internal/agent/tool/server"
	"quarry/internal/app/apptest"
	"quarry/internal/config"
)

// door is a way to make the service call an address.
type door struct {
	name string
	// setting opens private addresses to it: llm_private or outbound_allow.
	setting string
	// home reports whether every redirect to another origin is refused, wherever it leads.
	home bool
	// call makes the service call the address, and returns all that it says of that.
	call func(t *testing.T, s *service, address string) string
}

// doors are all of them. A new one is a line.
var doors = []door{
	{"model", "llm_private", false, callModel},
	{"models of an address", "llm_private", false, discoverModels},
	{"token endpoint of a model", "llm_private", true, callModelTokens},
	{"web_get", "outbound_allow", false, callWebGet},
	{"web_get without certificates", "outbound_allow", false, callInsecureWebGet},
	{"token endpoint of web_get", "outbound_allow", true, callWebGetTokens},
	{"tool server", "outbound_allow", true, callToolServer(server.Streamable)},
	{"tool server with events", "outbound_allow", true, callToolServer(server.SSE)},
	{"token endpoint of a tool server", "outbound_allow", true, callToolServerTokens},
}

func callModel(t *testing.T, s *service, address string) string {
	return s.ask(t, "POST", "/v2/llms", map[string]any{"type": "openai-compatible", "name": s.name(), "model": "m", "uri": address})
}

func discoverModels(t *testing.T, s *service, address string) string {
	return s.ask(t, "POST", "/v2/llms/discover", map[string]any{"uri": address})
}

func callModelTokens(t *testing.T, s *service, address string) string {
	return s.ask(t, "POST", "/v2/llms", map[string]any{"type": "openai-compatible", "name": s.name(), "model": "m", "uri": s.target.URL + "/other", "auth": map[string]any{
		"type": "oauth_client_credentials", "client_id": "me", "client_secret": "hush", "token_endpoint": address,
	}})
}

// callToolServer registers a tool server, and returns how its first sync has gone.
func callToolServer(transport string) func(*testing.T, *service, string) string {
	return func(t *testing.T, s *service, address string) string {
		return s.synced(t, map[string]any{"type": "mcp", "name": s.name(), "uri": address, "transport": transport})
	}
}

func callToolServerTokens(t *testing.T, s *service, address string) string {
	return s.synced(t, map[string]any{"type": "mcp", "name": s.name(), "uri": s.target.URL + "/other", "transport": server.Streamable, "auth": map[string]any{
		"type": "oauth_client_credentials", "client_id": "me", "client_secret": "hush", "token_endpoint": address,
	}})
}

// synced creates a tool server and waits until its first sync has ended.
func (s *service) synced(t *testing.T, body map[string]any) string {
	t.Helper()
	made := s.ask(t, "POST", "/v2/tool_servers", body)
	_, raw, _ := strings.Cut(made, " ")
	var v struct {
		ID     string `json:"id"`
		Status string `json:"sync_status"`
	}
	if json.Unmarshal([]byte(raw), &v) != nil || v.ID == "" {
		return made // refused as it was written
	}
	for {
		made = s.ask(t, "GET", "/v2/tool_servers/"+v.ID, nil)
		_, raw, _ = strings.Cut(made, " ")
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatalf("%v: %s", err, made)
		}
		if v.Status == "ok" || v.Status == "failed" {
			return made
		}
		select {
		case <-t.Context().Done():
			t.Fatal("a tool server was never synced")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// never are addresses and names that no setting opens. PORT is that of the target.
var never = []string{
	"http://169.254.169.254/latest/meta-data/", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/", "http://169.254.170.2/",
	"http://100.100.100.200/", "http://168.63.129.16/", "http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://0.0.0.0:PORT/", "http://[::]:PORT/",
	"http://224.0.0.1/", "http://255.255.255.255/", "http://metadata.google.internal/computeMetadata/v1/", "http://METADATA.google.internal./", "http://metadata/",
}

// private are addresses and names of this machine and of networks around it, that a setting opens.
var private = []string{
	"http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://[::ffff:127.0.0.1]:PORT/", "http://127.9.9.9:PORT/",
	"http://10.0.0.1/", "http://192.168.0.1/", "http://172.16.0.1/", "http://[::1]/", "http://[fd12::1]/", "http://[64:ff9b::a00:1]/",
}

// redirects are paths of the target, with where they lead and what is said of it.
var redirects = map[string]struct{ to, says string }{
	"/meta": {"http://169.254.169.254/latest/", "never called"}, "/name": {"http://metadata.google.internal/", "never called"},
	"/link": {"http://[fe80::1]/", "never called"}, "/file": {"file:///etc/passwd", "file://"}, "/user": {"http://a:b@localhost/", "user name"},
	"/loop": {"/loop", "redirects more than"},
}

// target is a server that should not be reached but by the call that is meant.
type target struct {
	*httptest.Server
	mu   sync.Mutex
	hits []string // paths; guarded by mu
}

func newTarget(t *testing.T, inside string) *target {
	t.Helper()
	g := &target{}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.hits = append(g.hits, r.URL.Path)
		g.mu.Unlock()
		for path, to := range redirects {
			if strings.HasPrefix(r.URL.Path, path) { // doors may add to a path
				http.Redirect(w, r, to.to, http.StatusTemporaryRedirect)
				return
			}
		}
		if strings.HasPrefix(r.URL.Path, "/inside") {
			http.Redirect(w, r, inside, http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(g.Close)
	return g
}

// reached returns how often the target was reached since it was last asked.
func (g *target) reached() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := len(g.hits)
	g.hits = nil
	return n
}

func (g *target) port() string {
	_, port, _ := net.SplitHostPort(g.Listener.Addr().String())
	return port
}

// service is a service whose settings open what the entries name: those of outbound_allow, or anything for llm_private.
type service struct {
	target *target
	handle http.Handler
	key    string
	made   int
	agent  bool // the one that uses tools is made
}

func start(t *testing.T, d door, g *target, entries string) *service {
	t.Helper()
	a, key := apptest.Start(t, func(c *config.Config) {
		switch d.setting {
		case "llm_private":
			c.LLMPrivate = entries != ""
		case "outbound_allow":
			c.OutboundAllow = entries
		default:
			t.Fatalf("the door %s names no setting", d.name)
		}
	})
	return &service{target: g, handle: a.Handler(), key: key}
}

func (s *service) name() string {
	s.made++
	return fmt.Sprint("n", s.made)
}

// ask makes a request and returns status and body as a text.
func (s *service) ask(t *testing.T, method, path string, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(string(text)))
	r.Header.Set("x-api-key", s.key)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.handle.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ", w.Body)
}

// TestDoors proves for every door that forbidden addresses are refused whatever is set, private ones unless their setting opens
// them, and redirects to either; that the refusal names the reason and the setting; and that what is open is reached.
func TestDoors(t *testing.T) {
	t.Parallel()
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			inside := newTarget(t, "/")
			g := newTarget(t, inside.URL)
			refused := func(s *service, address, says string, hits int) {
				t.Helper()
				address = strings.ReplaceAll(address, "PORT", g.port())
				g.reached()
				said := d.call(t, s, address)
				if !strings.Contains(said, says) {
					t.Errorf("%s: %s, want %q", address, said, says)
				}
				if n := g.reached(); n > hits {
					t.Errorf("%s reached the target %d times, at most %d are right", address, n, hits)
				}
			}
			open, closed := start(t, d, g, "0.0.0.0/0,::/0,169.254.169.254,metadata.google.internal"), start(t, d, g, "")
			for _, address := range never {
				refused(open, address, "never called", 0)
				refused(closed, address, "never called", 0)
			}
			for _, address := range private {
				says := "the setting " + d.setting
				if strings.Contains(address, "localhost") {
					says = d.setting // which of its addresses is named depends on the machine
				}
				refused(closed, address, says, 0)
			}
			for path, to := range redirects {
				says := to.says
				if d.home && strings.Contains(to.to, "://") {
					says = "another origin"
				}
				refused(open, "http://127.0.0.1:PORT"+path, says, 20)
			}
			if said := d.call(t, open, g.URL+"/"); g.reached() == 0 {
				t.Errorf("the open door leads nowhere: %s", said)
			}
			if d.setting == "outbound_allow" {
				narrow := start(t, d, g, "127.0.0.1:"+g.port())
				says := "the setting outbound_allow"
				if d.home {
					says = "another origin"
				}
				refused(narrow, "http://127.0.0.1:PORT/inside", says, 3)
				refused(narrow, "http://localhost.invalid:PORT/", "", 0)
				if said := d.call(t, narrow, g.URL+"/"); g.reached() == 0 {
					t.Errorf("the narrow door leads nowhere: %s", said)
				}
				if inside.reached() != 0 {
					t.Error("the inside was reached")
				}
			}
		})
	}
}

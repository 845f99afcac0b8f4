package doors

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/app"
	"quarry/internal/config"
)

// TestExport proves that spans reach the collector that the settings name, private or not, and neither a forbidden address nor what a
// collector redirects to, with the reason in the log and no credential.
func TestExport(t *testing.T) {
	t.Parallel()
	inside := newTarget(t, "/")
	g := newTarget(t, inside.URL)
	var arrived atomic.Int64
	well := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(well.Close)
	_, port, err := net.SplitHostPort(well.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{
		g.URL: "status 418", g.URL + "/meta": "status 307", g.URL + "/inside": "status 307", g.URL + "/file": "status 307", well.URL: "", "http://localhost:" + port: "",
	}
	for _, address := range never {
		says[strings.TrimRight(strings.ReplaceAll(address, "PORT", g.port()), "/")] = "never called"
	}
	for address, want := range says {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			cfg := config.Default()
			cfg.OTLPEndpoint, cfg.OTLPHeaders, cfg.OutboundAllow = address, "Authorization=Bearer%20hush", "0.0.0.0/0,::/0"
			if err := cfg.Check(); err != nil {
				t.Fatal(err)
			}
			if said := export(t, cfg); !strings.Contains(said, want) || want == "" && said != "" || strings.Contains(said, "hush") {
				t.Errorf("the log has %q, want %q", said, want)
			}
		})
	}
	t.Cleanup(func() {
		if inside.reached() != 0 {
			t.Error("the inside was reached")
		}
		if arrived.Load() < 2 { // by both of its names
			t.Error("a collector that is open gets nothing")
		}
	})
}

// export lets an agent answer in a service with these settings, ends it, and returns its log.
func export(t *testing.T, cfg config.Config) string {
	t.Helper()
	var log bytes.Buffer
	cfg.Data, cfg.Listen = t.TempDir(), ""
	a, err := app.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(a.KeyFile())
	if err != nil {
		t.Fatal(err)
	}
	s := &service{handle: a.Handler(), key: strings.TrimSpace(string(key))}
	for _, c := range []struct {
		path string
		body map[string]any
	}{
		{"/v2/agents", map[string]any{"key": "a", "name": "A", "model": map[string]any{"name": "extractive-1.0"}}},
		{"/v2/agents/a/sessions", map[string]any{"key": "s"}},
		{"/v2/agents/a/sessions/s/events", map[string]any{"messages": []any{map[string]any{"type": "text", "content": "Hello."}}}},
	} {
		if said := s.ask(t, "POST", c.path, c.body); !strings.HasPrefix(said, "201 ") {
			t.Fatalf("%s: %s", c.path, said)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

package crash

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

// TestKillEnrichment proves that a kill while the rules of an agent run leaves no session, and that the same request makes one afterwards.
func TestKillEnrichment(t *testing.T) {
	t.Parallel()
	reached, answer := make(chan struct{}, 1), make(chan struct{})
	var once sync.Once
	release := func() { once.Do(func() { close(answer) }) }
	directory := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case reached <- struct{}{}:
		default:
		}
		select {
		case <-answer:
			fmt.Fprint(w, "gold")
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(directory.Close)
	t.Cleanup(release)
	dir := t.TempDir()
	start := func() *testkit.Process {
		return testkit.StartWith(t, dir, []string{"QUARRY_OUTBOUND_ALLOW=127.0.0.1"}, "--data", dir, "--listen", "127.0.0.1:0")
	}
	p := start()
	p.Client().Must(t, http.StatusCreated, "POST", "/v2/agents", map[string]any{
		"key": "desk", "name": "Desk", "model": map[string]any{"name": "extractive-1.0"},
		"tool_configurations": map[string]any{"directory": map[string]any{"type": "web_get", "argument_override": map[string]any{"url": directory.URL}}},
		"enrichment":          []any{map[string]any{"tool_configuration": "directory", "output_transform": "{tier: .content}"}},
	})
	session := map[string]any{"key": "s"}
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		if status, body, err := p.Client().Do("POST", "/v2/agents/desk/sessions", session); err == nil {
			t.Errorf("a session that was cut off is answered with %d: %v", status, body)
		}
	}()
	<-reached
	p.Kill()
	<-dead
	p = start()
	found := p.Client().Must(t, http.StatusOK, "GET", "/v2/agents/desk/sessions", nil)
	if n := len(found["sessions"].([]any)); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
	release()
	made := p.Client().Must(t, http.StatusCreated, "POST", "/v2/agents/desk/sessions", session)
	if tier := made["metadata"].(map[string]any)["tier"]; tier != "gold" {
		t.Errorf("the session has the metadata %v", made["metadata"])
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

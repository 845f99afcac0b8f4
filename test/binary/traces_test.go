package binary

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/store"
	"quarry/internal/store/traces"
	"quarry/internal/testkit"
	"quarry/internal/trace"
)

// TestTracesOnFullDisk proves that on a full disk traces are read with their texts, that a turn does what its events can, that a session is
// deleted and its texts with it, and that a start removes traces that are too old.
func TestTracesOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 24<<20)
	dir := filepath.Join(disk, "data")
	p := testkit.StartBinary(t, dir)
	c := p.Client()
	createFull(t, c)
	const all = "/v2/agent_analytics/traces?limit=100"
	talk := map[string]any{"messages": []any{map[string]any{"type": "text", "content": "Hello."}}}
	c.Must(t, http.StatusCreated, "POST", "/v2/agents", map[string]any{"key": "desk", "name": "Desk", "model": map[string]any{"name": "extractive-1.0"}})
	c.Must(t, http.StatusCreated, "POST", "/v2/agents/desk/sessions", map[string]any{"key": "s"})
	c.Must(t, http.StatusCreated, "POST", "/v2/agents/desk/sessions/s/events", talk)
	mustStop(t, p)
	writeOld(t, dir, 250)
	p = testkit.StartWith(t, dir, []string{"QUARRY_TRACE_DAYS=36500"}, "--data", dir, "--listen", "127.0.0.1:0")
	c = p.Client()
	if n := len(c.Must(t, http.StatusOK, "GET", all, nil)["traces"].([]any)); n != 100 {
		t.Fatalf("%d traces on a page, want 100", n)
	}
	filler := filepath.Join(disk, "filler")
	exhaust(t, c, filler)
	newest := c.Must(t, http.StatusOK, "GET", all, nil)["traces"].([]any)[0].(map[string]any)["trace_id"].(string)
	spans := "/v2/agent_analytics/traces/" + newest + "/spans?include_content=true"
	said := func() bool {
		entry := c.Must(t, http.StatusOK, "GET", spans, nil)["spans"].([]any)[0].(map[string]any)
		content, there := entry["content"].(map[string]any)
		return there && strings.Contains(content["input_messages"].(string), "Hello.")
	}
	if !said() {
		t.Error("the texts of a trace can't be read on a full disk")
	}
	switch status, answer, err := c.Do("POST", "/v2/agents/desk/sessions/s/events", talk); {
	case err != nil, status != http.StatusCreated && status != http.StatusServiceUnavailable:
		t.Errorf("a turn: %d %v, %v; want what its events can", status, answer, err)
	}
	c.Must(t, http.StatusNoContent, "DELETE", "/v2/agents/desk/sessions/s", nil)
	if said() {
		t.Error("texts are read behind the deletion of their session")
	}
	mustStop(t, p)
	p = testkit.StartBinary(t, dir)
	c = p.Client()
	for i := 0; ; i++ { // old traces go beside the requests
		if n := len(c.Must(t, http.StatusOK, "GET", all, nil)["traces"].([]any)); n < 3 {
			break
		}
		if i == 10_000 {
			t.Fatal("old traces are not removed on a full disk")
		}
	}
	mustStop(t, p)
}

// writeOld writes traces of a year ago into the database of a service that is not running.
func writeOld(t *testing.T, dir string, n int) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	var spans []trace.Span
	for i := range n {
		at := time.Now().AddDate(-1, 0, 0).Add(time.Duration(i) * time.Second).UTC().Truncate(time.Microsecond)
		spans = append(spans, trace.Span{
			Trace: trace.NewID(at), ID: trace.NewSpanID(), Operation: trace.InvokeAgent, Started: at, Ended: at.Add(time.Second),
			Agent: trace.Subject{No: 1, Key: "desk"}, Session: trace.Subject{No: 1, Key: "s"},
		})
	}
	if err := db.Write(t.Context(), func(tx *store.Tx) error { traces.New(db, nil).Write(tx, spans); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

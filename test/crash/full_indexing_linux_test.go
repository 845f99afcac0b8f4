package crash

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/internal/provider/scripted"
)

// TestFullIndexing proves that a batch that meets a full disk halfway leaves each document there whole or not at all, as its output
// tells once there is room for it, and that the same batch sent again then indexes the rest.
func TestFullIndexing(t *testing.T) {
	t.Parallel()
	x := &indexer{t: t, dir: t.TempDir()}
	x.start()
	x.furnish(scripted.Start(t))
	// few words to encode, many bytes to store
	var documents []any
	for i := range batchSize {
		documents = append(documents, map[string]any{"document": map[string]any{"id": fmt.Sprint("f", i), "document_parts": []any{
			map[string]any{"text": fmt.Sprintf("Valve %d.", i), "context": strings.Repeat(fmt.Sprintf("%d ", i), 1_500)}, map[string]any{"text": "It is shut."},
		}}})
	}
	call := map[string]any{"calls": []any{map[string]any{"name": "core_document_index", "arguments": map[string]any{"documents": documents}}}}
	question, err := json.Marshal([]any{call, call, map[string]any{"text": "Done."}})
	if err != nil {
		t.Fatal(err)
	}
	events := "/v2/agents/i/sessions/full/events"
	x.c.Must(t, http.StatusCreated, "POST", "/v2/agents/i/sessions", map[string]any{"key": "full"})
	answered := make(chan error, 1)
	go func() {
		status, answer, err := x.c.Do("POST", events, map[string]any{"messages": []any{map[string]any{"type": "text", "content": string(question)}}})
		if err == nil && status != http.StatusCreated {
			err = fmt.Errorf("%d: %v", status, answer)
		}
		answered <- err
	}()
	first := func() bool {
		return len(x.c.Must(t, http.StatusOK, "GET", "/v2/corpora/i/documents?limit=1", nil)["documents"].([]any)) > 0
	}
	for !first() {
		select {
		case err := <-answered:
			t.Fatalf("nothing was indexed: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	room := limit(t, x.p.PID(), unix.Rlimit{Cur: 1 << 20, Max: unix.RLIM_INFINITY}) // files are larger by now, and can't grow
	if largest(t, x.dir) < 1<<20 {
		t.Fatal("no file is as large as the limit")
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(x.p.Log(), "an event is not written for now"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the disk was never full: %s", x.p.Log())
		}
	}
	there := x.stored()
	limit(t, x.p.PID(), room)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	log := x.outputs(events)
	if len(log) != 2 || !log[0].failed || log[1].failed {
		t.Fatalf("outputs %+v", log)
	}
	if !log[0].Retryable || len(there) == 0 || len(there) == batchSize {
		t.Errorf("retryable %v, %d documents are there", log[0].Retryable, len(there))
	}
	for i, d := range log[0].Documents {
		text, ok := there[d.ID]
		if ok != (d.Status == "indexed") || ok && text != fmt.Sprintf("Valve %d.It is shut.", i) || !ok && d.Error == "" {
			t.Errorf("document %+v: %q is there", d, text)
		}
		if again := log[1].Documents[i].Status; again != map[bool]string{true: "unchanged", false: "indexed"}[ok] {
			t.Errorf("document %s: %s, and again %s", d.ID, d.Status, again)
		}
	}
	if now := x.stored(); len(now) != batchSize {
		t.Errorf("%d documents are there in the end", len(now))
	}
}

// tried is what came of a batch.
type tried struct {
	Documents []struct {
		ID     string `json:"document_id"`
		Status string
		Error  string
	}
	Retryable bool
	failed    bool
}

// outputs returns what came of the batches of a turn.
func (x *indexer) outputs(events string) (out []tried) {
	for _, one := range x.c.Must(x.t, http.StatusOK, "GET", events+"?limit=100", nil)["events"].([]any) {
		e := one.(map[string]any)
		if e["type"] != "tool_output" {
			continue
		}
		var got tried
		if err := json.Unmarshal([]byte(canonical(e["tool_output"])), &got); err != nil {
			x.t.Fatal(err)
		}
		got.failed = e["error"] == true
		out = append(out, got)
	}
	return out
}

// largest returns the size of the largest file in a folder.
func largest(t *testing.T, dir string) (size int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size = max(size, info.Size())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

package crash

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

// TestReadyAfterKill proves that after a kill the index whose files are more than 1,000 changes behind shows all of them once
// /readyz answers 200, before any query, while one that is less behind is not even opened.
func TestReadyAfterKill(t *testing.T) {
	t.Parallel()
	const (
		changes = 1001
		docs    = 8
	)
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir, "--log", "requests")
	c := p.Client()
	parts := make([]any, 300) // those of all documents together are worth a file at the stop
	for i := range parts {
		parts[i] = map[string]any{"text": "The pump is blue."}
	}
	for _, key := range []string{"behind", "near"} {
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": key})
		for i := range docs {
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora/"+key+"/documents", map[string]any{"type": "core", "id": fmt.Sprint("d", i), "document_parts": parts})
		}
	}
	if err := p.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.Log())
	}

	p = testkit.StartBinary(t, dir, "--log", "requests")
	c = p.Client()
	for _, err := range testkit.AtOnce(t.Context(), docs, func(_ context.Context, d int) error {
		for i := d; i < changes; i += docs {
			status, answer, err := c.Do("PATCH", fmt.Sprint("/v2/corpora/behind/documents/d", d), map[string]any{"metadata": map[string]any{"n": i}})
			if err != nil {
				return err
			}
			if status != http.StatusOK {
				return fmt.Errorf("change %d: %d %v", i, status, answer)
			}
		}
		return nil
	}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Must(t, http.StatusOK, "PATCH", "/v2/corpora/near/documents/d0", map[string]any{"metadata": map[string]any{"n": 1}})
	p.Kill()

	p = testkit.StartBinary(t, dir, "--log", "requests")
	c = p.Client()
	for {
		status, answer, err := c.Do("GET", "/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if status == http.StatusOK {
			break
		}
		if status != http.StatusServiceUnavailable || answer["code"] != "not_ready" {
			t.Fatalf("readyz answers %d %v", status, answer)
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
	before, _, ready := strings.Cut(p.Log(), "route=/readyz status=200")
	if !ready || !strings.Contains(before, fmt.Sprintf("corpus=behind index=%d", docs+changes)) || strings.Contains(p.Log(), "corpus=near") {
		t.Errorf("want behind alone to be brought up to change %d before the service is ready:\n%s", docs+changes, p.Log())
	}
}

package app_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"quarry/internal/app"
)

// TestRebuildOnEveryNode proves that a rebuild that one node was asked for ends with the index of the node that runs it, that
// the other one makes its own when it next answers a query, and that both answer the same before, meanwhile and afterwards.
func TestRebuildOnEveryNode(t *testing.T) {
	t.Parallel()
	onNodes(t, func(t *testing.T, first, second *app.App) {
		raw, err := os.ReadFile(first.KeyFile())
		if err != nil {
			t.Fatal(err)
		}
		owner := strings.TrimSpace(string(raw))
		must := func(a *app.App, want int, method, path, body string) map[string]any {
			t.Helper()
			status, got := ask(a, owner, method, path, body)
			if status != want {
				t.Fatalf("%s %s answers %d: %v", method, path, status, got)
			}
			return got
		}
		must(first, http.StatusCreated, "POST", "/v2/corpora", `{"key":"c"}`)
		for i := range 5 {
			must(first, http.StatusCreated, "POST", "/v2/corpora/c/documents", fmt.Sprintf(`{"id":"d%d","type":"core","document_parts":[{"text":"Pump %d is dry."}]}`, i, i))
		}
		query := func(a *app.App) string {
			return fmt.Sprint(must(a, http.StatusOK, "POST", "/v2/corpora/c/query", `{"query":"Which pump is dry?","search":{}}`)["search_results"])
		}
		want := query(first)
		if got := query(second); got != want {
			t.Fatalf("before, the second node answers %s, the first %s", got, want)
		}
		id := must(second, http.StatusOK, "POST", "/v2/corpora/c/rebuild_index", "")["job_id"].(string)
		resting := func(a *app.App) bool {
			if got := query(a); got != want {
				t.Fatalf("meanwhile a node answers %s, want %s", got, want)
			}
			return must(a, http.StatusOK, "GET", "/v2/corpora/c/index", "")["state"] == "resting"
		}
		deadline := time.Now().Add(time.Minute)
		for ended := false; !ended || !resting(first) || !resting(second); {
			state := must(first, http.StatusOK, "GET", "/v2/jobs/"+id, "")["state"]
			ended = state == "completed"
			if state == "failed" || state == "aborted" || time.Now().After(deadline) {
				t.Fatalf("the job is %v", state)
			}
		}
	})
}

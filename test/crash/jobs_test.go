package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

const (
	bulk     = "/v2/corpora/bulk"
	bulkDocs = 3000 // a dozen steps of a job
)

// work is a bulk operation and what its job reports at its end.
type work struct {
	method  string
	body    any
	comment string
}

var (
	update = work{"PATCH", map[string]any{"metadata": map[string]any{"mark": "x"}}, "2,100 updated, 0 skipped, 0 failed"}
	again  = work{"PATCH", update.body, "0 updated, 2,100 skipped, 0 failed"}
	remove = work{"DELETE", nil, "2,100 deleted, 0 skipped, 0 failed"}
)

// TestKillJob proves that a job whose process is killed again and again goes on, does all of its work, none twice, and
// counts every document once.
func TestKillJob(t *testing.T) {
	t.Parallel()
	killJobs(t, max(1, *rounds/3), []work{update, again, remove})
}

// TestKillJobPostgres proves the same where the dead process's lease has to run out first, which takes half a minute.
func TestKillJobPostgres(t *testing.T) {
	t.Parallel()
	for _, w := range []work{update, remove} {
		t.Run(w.method, func(t *testing.T) {
			t.Parallel()
			killJobs(t, max(1, *rounds/30), []work{w}, "--database", storetest.Postgres(t))
		})
	}
}

func killJobs(t *testing.T, kills int, works []work, args ...string) {
	t.Helper()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir, args...)
	fill(t, p.Client())
	selected := url.Values{"metadata_filter": {"doc.n < 7"}}.Encode()
	for _, w := range works {
		id := p.Client().Must(t, http.StatusAccepted, w.method, bulk+"/documents?"+selected, w.body)["job_id"].(string)
		interrupted := 0
		for range kills {
			running := awaitProgress(t, p.Client(), id, rand.IntN(bulkDocs))
			p.Kill()
			if p = testkit.StartBinary(t, dir, args...); running {
				interrupted++
			}
		}
		// jobs of one corpus run one after another: when this one has ended, so has that
		p.Client().Must(t, http.StatusOK, "DELETE", bulk+"/documents?document_ids=none&async=false", nil)
		job := p.Client().Must(t, http.StatusOK, "GET", "/v2/jobs/"+id, nil)
		if job["state"] != "completed" || job["comment"] != w.comment {
			t.Errorf("%s: the job is %v: %v; want completed: %s", w.method, job["state"], job["comment"], w.comment)
		}
		t.Logf("%s: killed %d times, %d times in the middle", w.method, kills, interrupted)
		verifyBulk(t, p.Client(), w.method)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

// fill creates documents, each with its number modulo ten as metadata n.
func fill(t *testing.T, c *testkit.Client) {
	t.Helper()
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "bulk", "filter_attributes": []any{
		map[string]any{"name": "n", "level": "document", "type": "integer"}, map[string]any{"name": "mark", "level": "document", "type": "text"},
	}})
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := w; i < bulkDocs; i += 8 {
				status, answer, err := c.Do("POST", bulk+"/documents", map[string]any{
					"type": "core", "id": fmt.Sprint(i), "metadata": map[string]any{"n": i % 10}, "document_parts": []any{map[string]any{"text": "valve"}},
				})
				if err != nil || status != http.StatusCreated {
					t.Errorf("document %d: %d %v %v", i, status, answer, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// awaitProgress waits until the job has seen a number of documents or has ended, and reports whether it is still running.
func awaitProgress(t *testing.T, c *testkit.Client, id string, documents int) (running bool) {
	t.Helper()
	for {
		job := c.Must(t, http.StatusOK, "GET", "/v2/jobs/"+id, nil)
		if state := job["state"]; state != "queued" && state != "started" && state != "failed_will_retry" {
			return false
		}
		comment, _ := job["comment"].(string)
		first, _, _ := strings.Cut(comment, " of ")
		seen, _ := strconv.Atoi(strings.ReplaceAll(first, ",", "")) // 0 before the first step
		if seen >= documents {
			return true
		}
	}
}

// verifyBulk compares rows, usage and index with what the work leaves.
func verifyBulk(t *testing.T, c *testkit.Client, method string) {
	t.Helper()
	rows := map[bool]int{}
	for page := ""; ; {
		answer := c.Must(t, http.StatusOK, "GET", bulk+"/documents?limit=1000&page_key="+page, nil)
		for _, d := range answer["documents"].([]any) {
			m := d.(map[string]any)["metadata"].(map[string]any)
			if chosen := m["n"].(float64) < 7; chosen != (m["mark"] == "x") {
				t.Fatalf("after %s a document has %v", method, m)
			} else {
				rows[chosen]++
			}
		}
		if page, _ = answer["metadata"].(map[string]any)["page_key"].(string); page == "" {
			break
		}
	}
	chosen := 2100
	if method == "DELETE" {
		chosen = 0
	}
	if rows[true] != chosen || rows[false] != 900 {
		t.Errorf("after %s there are %d and %d documents, want %d and 900", method, rows[true], rows[false], chosen)
	}
	limits := c.Must(t, http.StatusOK, "GET", bulk, nil)["limits"].(map[string]any)
	if used := int(limits["used_docs"].(float64)); used != chosen+900 {
		t.Errorf("after %s the usage says %d documents, want %d", method, used, chosen+900)
	}
	for filter, want := range map[string]int{"doc.mark = 'x'": min(chosen, 1000), "doc.n >= 7": 900, "doc.n < 7 AND doc.mark IS NULL": 0} {
		answer := c.Must(t, http.StatusOK, "POST", bulk+"/query", map[string]any{
			"query": "valve", "search": map[string]any{"metadata_filter": filter, "limit": 1000},
		})
		if got := len(answer["search_results"].([]any)); got != want {
			t.Errorf("after %s the index finds %d parts where %s, want %d", method, got, filter, want)
		}
	}
}

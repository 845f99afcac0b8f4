package binary

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

// audited reads the whole audit of an action, newest first.
func audited(t *testing.T, c *testkit.Client, action string) (all []map[string]any) {
	t.Helper()
	for query := (url.Values{"action": {action}, "limit": {"100"}}); ; {
		page := c.Must(t, http.StatusOK, "GET", "/v2/audit_events?"+query.Encode(), nil)
		for _, e := range page["audit_events"].([]any) {
			all = append(all, e.(map[string]any))
		}
		next, _ := page["metadata"].(map[string]any)["page_key"].(string)
		if next == "" {
			return all
		}
		query.Set("page_key", next)
	}
}

// TestKillKeepsTheAudit proves that after a kill every change that was made is in the audit, those that were
// answered with their outcome, and that a change cut off by the kill shows as an outcome unknown.
func TestKillKeepsTheAudit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unknown := 0
	for round := 0; unknown == 0; round++ {
		if round == 20 {
			t.Fatal("20 kills cut off no change")
		}
		p := testkit.StartBinary(t, dir)
		answered := createUntilKilled(p, round)
		again := testkit.StartBinary(t, dir)
		c := again.Client()
		outcomes := map[string]string{}
		for _, e := range audited(t, c, "createCorpus") {
			outcomes[e["changes"].(map[string]any)["key"].(string)] = e["outcome"].(string)
			if e["outcome"] == "unknown" {
				unknown++
				if _, ok := e["status"]; ok {
					t.Errorf("an outcome is unknown and has a status: %v", e)
				}
			}
		}
		for _, key := range answered {
			if outcomes[key] != "succeeded" {
				t.Errorf("corpus %s was answered with 201, the audit says %q", key, outcomes[key])
			}
		}
		for _, x := range c.Must(t, http.StatusOK, "GET", "/v2/corpora?limit=100", nil)["corpora"].([]any) {
			if key := x.(map[string]any)["key"].(string); outcomes[key] == "" {
				t.Errorf("corpus %s is there and its creation is not in the audit", key)
			}
		}
		mustStop(t, again)
	}
}

// createUntilKilled creates corpora from several clients, kills the process midway, and returns the keys whose
// creation was answered.
func createUntilKilled(p *testkit.Process, round int) (answered []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	enough := make(chan struct{})
	for i := range 6 {
		all.Go(func() {
			for n := 0; ; n++ {
				key := fmt.Sprintf("r%d-%d-%d", round, i, n)
				status, _, err := p.Client().Do("POST", "/v2/corpora", map[string]any{"key": key})
				if err != nil {
					return // killed
				}
				mu.Lock()
				if status == http.StatusCreated {
					answered = append(answered, key)
				}
				if len(answered) == 12 && status == http.StatusCreated {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	p.Kill()
	all.Wait()
	return answered
}

// TestUnwritableAudit proves that on a full disk a change is refused because it can't be recorded, that reading goes
// on, and that changes go on by themselves, recorded, when there is space.
func TestUnwritableAudit(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 24<<20)
	filler, rest := filepath.Join(disk, "filler"), filepath.Join(disk, "rest")
	fill(t, filler, 12<<20)
	c := testkit.StartBinary(t, filepath.Join(disk, "data")).Client()
	createFull(t, c)
	writeUntilFull(t, c, nil)
	exhaust(t, c, rest)
	status, answer, err := c.Do("PATCH", "/v2/corpora/full", map[string]any{"description": "unseen"})
	if err != nil || status != http.StatusServiceUnavailable || answer["code"] != "audit_unavailable" {
		t.Errorf("a change that can't be recorded: %d %v %v, want 503 audit_unavailable", status, answer, err)
	}
	if got := c.Must(t, http.StatusOK, "GET", "/v2/corpora/full", nil); got["description"] == "unseen" {
		t.Error("a change that could not be recorded was made")
	}
	before := audited(t, c, "updateCorpus") // those that filled the disk
	if len(before) > 0 && fmt.Sprint(before[0]["changes"]) == "map[description:unseen]" {
		t.Errorf("the audit has %v, which was not written", before[0])
	}
	remove(t, rest)
	remove(t, filler)
	c.Must(t, http.StatusOK, "PATCH", "/v2/corpora/full", map[string]any{"description": "seen"})
	if got := audited(t, c, "updateCorpus"); len(got) != len(before)+1 || got[0]["outcome"] != "succeeded" {
		t.Errorf("the audit has %v, want the change that was made on top", got)
	}
}

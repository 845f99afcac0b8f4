package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

const (
	turned     = "/v2/corpora/turned"
	turnedDocs = 700 // of three parts each: more rows than an index bears without files
)

// side is a list of attributes and what filters over it find. One document changes all the time, so that a filter finds
// want parts, or with that document three more.
type side struct {
	attributes []any
	filter     string // an error with the attributes of the other side
	want       int
}

func attribute(name, level, of string) any {
	return map[string]any{"name": name, "level": level, "type": of}
}

var sides = [2]side{
	{[]any{attribute("v", "document", "integer"), attribute("n", "document", "integer"), attribute("k", "part", "integer")}, "doc.v < 6 AND part.k > 0", 630},
	{[]any{attribute("n", "document", "real_number"), attribute("v", "document", "text")}, "doc.v = 's3'", 210},
}

// TestKillReplaceAttributes proves that filter attributes are the old or the new ones, and filters right with either,
// however often the process is killed while they are replaced and documents change; that the switch happens once; and
// that the index is then the one that is made of the rows anew.
func TestKillReplaceAttributes(t *testing.T) {
	t.Parallel()
	killReplace(t, max(2, *rounds/3)) // the sides take turns
}

// TestKillReplaceAttributesPostgres proves the same where the dead process's lease has to run out first.
func TestKillReplaceAttributesPostgres(t *testing.T) {
	t.Parallel()
	killReplace(t, max(1, *rounds/30), "--database", storetest.Postgres(t))
}

func killReplace(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir, args...)
	fillTurned(t, p.Client())
	p.Client().Must(t, http.StatusOK, "POST", turned+"/replace_filter_attributes", map[string]any{"filter_attributes": sides[0].attributes})
	if !watch(t, p, sides[1], sides[0], true, 0) {
		t.FailNow()
	}
	if err := p.Stop(); err != nil { // writes the index
		t.Fatalf("the first stop: %v\n%s", err, p.Log())
	}
	p = testkit.StartBinary(t, dir, args...)
	for round := range kills {
		from, to := sides[round%2], sides[(round+1)%2]
		if got := asked(t, p.Client(), from.filter); !near(got, from.want) {
			t.Fatalf("round %d: before the job %s finds %d parts, want %d", round, from.filter, got, from.want)
		}
		id := p.Client().Must(t, http.StatusOK, "POST", turned+"/replace_filter_attributes", map[string]any{"filter_attributes": to.attributes})["job_id"].(string)
		early := watch(t, p, from, to, false, time.Duration(rand.IntN(120))*time.Millisecond)
		p = testkit.StartBinary(t, dir, args...)
		switched := watch(t, p, from, to, true, 0)
		job := p.Client().Must(t, http.StatusOK, "GET", "/v2/jobs/"+id, nil)
		if !switched || job["state"] == "failed" || job["state"] == "aborted" {
			t.Errorf("round %d: switched: %t; the job is %v: %v", round, switched, job["state"], job["comment"])
		}
		t.Logf("round %d: killed after the switch: %t; %v: %v", round, early, job["state"], job["comment"])
		if p.Client().Must(t, http.StatusOK, "GET", turned, nil)["filter_attributes"] == nil {
			t.Errorf("round %d: no attributes", round)
		}
		p = likeNew(t, p, dir, round, args)
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
}

// fillTurned creates documents whose value v is a number in every second one, else a text.
func fillTurned(t *testing.T, c *testkit.Client) {
	t.Helper()
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": "turned"}) // without attributes, so that values of any type get in
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := w; i <= turnedDocs; i += 8 {
				metadata, parts := map[string]any{"n": i % 10, "v": i % 10}, make([]any, 3)
				if i%2 == 1 {
					metadata["v"] = fmt.Sprintf("s%d", i%10)
				}
				if i == turnedDocs {
					metadata = map[string]any{}
				}
				for k := range parts {
					parts[k] = map[string]any{"text": fmt.Sprintf("valve %d", i%10), "metadata": map[string]any{"k": k + 1}}
				}
				status, answer, err := c.Do("POST", turned+"/documents", map[string]any{"type": "core", "id": fmt.Sprint(i), "metadata": metadata, "document_parts": parts})
				if err != nil || status != http.StatusCreated {
					t.Errorf("document %d: %d %v %v", i, status, answer, err)
					return
				}
			}
		})
	}
	group.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// asked returns the number of parts that a filter finds, -1 if the corpus has other attributes, -2 if the process is gone.
func asked(t *testing.T, c *testkit.Client, filter string) int {
	t.Helper()
	status, answer, err := c.Do("POST", turned+"/query", map[string]any{"query": "valve", "search": map[string]any{"metadata_filter": filter, "limit": 1000}})
	switch {
	case err != nil:
		return -2
	case status == http.StatusBadRequest:
		return -1
	case status != http.StatusOK:
		t.Errorf("%s answers %d: %v", filter, status, answer)
		return -1
	}
	return len(answer["search_results"].([]any))
}

func near(got, want int) bool { return got == want || got == want+3 }

// watch asks with the attributes of both sides while a document changes, until the new ones serve (toEnd), or until it
// kills the process after a time. It reports whether the new ones were seen.
func watch(t *testing.T, p *testkit.Process, from, to side, toEnd bool, after time.Duration) (seen bool) {
	t.Helper()
	c := p.Client()
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			metadata := map[string]any{"v": []any{1, "s3", nil}[i%3]}
			if status, answer, err := c.Do("PUT", fmt.Sprintf("%s/documents/%d/metadata", turned, turnedDocs), map[string]any{"metadata": metadata}); err == nil && status != http.StatusOK && status != http.StatusBadRequest {
				t.Errorf("an update answers %d: %v", status, answer)
			}
		}
	})
	if !toEnd {
		timer := time.AfterFunc(after, p.Kill)
		defer timer.Stop()
	}
	deadline := time.Now().Add(2 * time.Minute)
	for both := 0; both < 3; {
		old, fresh := asked(t, c, from.filter), asked(t, c, to.filter)
		if old == -2 || fresh == -2 {
			break
		}
		if old != -1 && (!near(old, from.want) || seen) || fresh != -1 && !near(fresh, to.want) || fresh == -1 && seen {
			t.Errorf("%s finds %d, want %d; %s finds %d, want %d; new ones seen before: %t", from.filter, old, from.want, to.filter, fresh, to.want, seen)
			break
		}
		seen = seen || fresh != -1
		if toEnd && seen {
			both++
		}
		if time.Now().After(deadline) {
			t.Error("the new attributes do not come")
			break
		}
	}
	close(stop)
	group.Wait()
	return seen
}

// likeNew compares the results of queries with those after the index has been rebuilt from the rows.
func likeNew(t *testing.T, p *testkit.Process, dir string, round int, args []string) *testkit.Process {
	t.Helper()
	before := everything(t, p.Client(), round)
	if round%2 == 0 {
		p.Kill()
		p = testkit.StartBinary(t, dir, args...)
		if diff := cmp.Diff(before, everything(t, p.Client(), round)); diff != "" {
			t.Fatalf("round %d: queries after a restart (-before +after):\n%.2000s", round, diff)
		}
		p.Kill()
	} else if err := p.Stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, p.Log())
	}
	if err := os.RemoveAll(filepath.Join(dir, "index")); err != nil {
		t.Fatal(err)
	}
	p = testkit.StartBinary(t, dir, args...)
	if diff := cmp.Diff(before, everything(t, p.Client(), round)); diff != "" {
		t.Fatalf("round %d: queries of a fresh index (-before +after):\n%.2000s", round, diff)
	}
	return p
}

// everything asks in several ways.
func everything(t *testing.T, c *testkit.Client, round int) (out []any) {
	t.Helper()
	of := sides[(round+1)%2]
	for _, filter := range []string{"", of.filter, "doc.n = 3", "doc.n IS NULL", "doc.v IS NULL"} {
		for _, lambda := range []float64{0, 0.5, 1} {
			out = append(out, c.Must(t, http.StatusOK, "POST", turned+"/query", map[string]any{"query": "valve 3", "search": map[string]any{
				"metadata_filter": filter, "limit": 1000, "lexical_interpolation": lambda,
			}})["search_results"])
		}
	}
	return out
}

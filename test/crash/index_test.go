package crash

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// TestKillRebuildIndex proves that a corpus answers the same queries however often the process is killed while its index is
// made anew, that the job goes on by itself and completes, and that the files of one index remain.
func TestKillRebuildIndex(t *testing.T) {
	t.Parallel()
	killRebuild(t, max(2, *rounds/3))
}

// TestKillRebuildIndexPostgres proves the same where the dead process's lease has to run out first.
func TestKillRebuildIndexPostgres(t *testing.T) {
	t.Parallel()
	killRebuild(t, max(1, *rounds/30), "--database", storetest.Postgres(t))
}

func killRebuild(t *testing.T, kills int, args ...string) {
	t.Helper()
	dir := t.TempDir()
	p := testkit.StartBinary(t, dir, args...)
	fillTurned(t, p.Client())
	p.Client().Must(t, http.StatusOK, "POST", turned+"/replace_filter_attributes", map[string]any{"filter_attributes": sides[0].attributes})
	if !watch(t, p, sides[1], sides[0], true, 0) {
		t.FailNow()
	}
	want := everything(t, p.Client(), 1)
	if err := p.Stop(); err != nil { // writes the index
		t.Fatalf("the first stop: %v\n%s", err, p.Log())
	}
	p = testkit.StartBinary(t, dir, args...)
	for round := range kills {
		id := p.Client().Must(t, http.StatusOK, "POST", turned+"/rebuild_index", nil)["job_id"].(string)
		kill := time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, p.Kill)
		for { // the old index answers, or the new one
			if got := asked(t, p.Client(), sides[0].filter); got == -2 {
				break
			} else if !near(got, sides[0].want) {
				t.Errorf("round %d: while the index is made anew %d parts are found, want %d", round, got, sides[0].want)
				p.Kill()
				break
			}
		}
		kill.Stop()
		p = testkit.StartBinary(t, dir, args...)
		if diff := cmp.Diff(want, everything(t, p.Client(), 1)); diff != "" {
			t.Fatalf("round %d: queries after the kill (-before +after):\n%.2000s", round, diff)
		}
		job := jobEnded(t, p, id)
		if again := p.Client().Must(t, http.StatusOK, "GET", turned+"/index", nil); job["state"] != "completed" || again["state"] != "resting" {
			t.Errorf("round %d: the job is %v: %v; the index is %v", round, job["state"], job["comment"], again)
		}
		if diff := cmp.Diff(want, everything(t, p.Client(), 1)); diff != "" {
			t.Fatalf("round %d: queries of the new index (-before +after):\n%.2000s", round, diff)
		}
		if left := indexFolders(t, dir); len(left) > 1 {
			t.Errorf("round %d: files of several indexes: %v", round, left)
		}
	}
	if err := p.Stop(); err != nil {
		t.Errorf("the last stop: %v\n%s", err, p.Log())
	}
	if left := indexFolders(t, dir); len(left) != 1 || filepath.Base(left[0]) != fmt.Sprint("build-", kills) {
		t.Errorf("at the end there are files in %v", left)
	}
}

// jobEnded returns a job once it has ended.
func jobEnded(t *testing.T, p *testkit.Process, id string) map[string]any {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		job := p.Client().Must(t, http.StatusOK, "GET", "/v2/jobs/"+id, nil)
		switch job["state"] {
		case "completed", "failed", "aborted":
			return job
		}
		if time.Now().After(deadline) {
			t.Fatalf("the job does not end: %v", job)
		}
	}
}

// indexFolders lists the folders below dir that have segments of an index.
func indexFolders(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "index"), func(path string, e os.DirEntry, err error) error {
		if os.IsNotExist(err) { // removed meanwhile
			return nil
		}
		if err == nil && filepath.Ext(path) == ".seg" {
			out = append(out, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

package binary

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"quarry/internal/testkit"
)

// heavy is a document whose metadata takes space on the disk while its text costs next to nothing to encode.
func heavy(i int) map[string]any {
	d := core(heavyID(i), i, "The "+heavyTerm(i)+" pump stands beside the tank.")
	d["metadata"].(map[string]any)["ballast"] = strings.Repeat(fmt.Sprintf("%08d", i), 64<<10)
	return d
}

func heavyID(i int) string   { return fmt.Sprintf("heavy-%d", i) }
func heavyTerm(i int) string { return fmt.Sprintf("zulu%dq", i) }

// TestFullDisk proves that a disk that fills up refuses writes with 503 and keeps serving reads and queries, that
// nothing acknowledged is damaged, and that writes go on by themselves once there is space.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 28<<20)
	dir, filler, spare := filepath.Join(disk, "data"), filepath.Join(disk, "filler"), filepath.Join(disk, "spare")
	fill(t, filler, 12<<20)
	fill(t, spare, 8<<20)
	p := testkit.StartBinary(t, dir)
	c := p.Client()
	createFull(t, c)

	known := writeUntilFull(t, c, nil)
	if len(known) < 3 || !known[0] || !known[1] || !known[2] {
		t.Fatalf("the first documents have to fit on the disk, and these do: %v", known)
	}
	rest := filepath.Join(disk, "rest")
	exhaust(t, c, rest)
	t.Run("writes are refused", func(t *testing.T) {
		refusedToAdd(t, c)
		known[0] = !deletes(t, c, 0) // as far as there is room
	})
	t.Run("reads and queries go on", func(t *testing.T) {
		sees(t, c, known)
		c.Must(t, http.StatusOK, "GET", "/v2/corpora/full", nil)
		c.Must(t, http.StatusOK, "GET", "/healthz", nil)
	})
	t.Run("a start serves what there is", func(t *testing.T) {
		mustStop(t, p)
		fill(t, filepath.Join(disk, "more"), 1<<40)
		p = testkit.StartBinary(t, dir)
		c = p.Client()
		refusedToAdd(t, c)
		known[1] = !deletes(t, c, 1)
		sees(t, c, known)
		mustStop(t, p)
		remove(t, filepath.Join(disk, "more"))
	})
	remove(t, rest)
	remove(t, spare)
	p = testkit.StartBinary(t, dir)
	c = p.Client()
	sees(t, c, known)
	known = writeUntilFull(t, c, known)
	exhaust(t, c, rest)
	refusedToAdd(t, c)
	remove(t, rest)
	remove(t, filler)
	t.Run("writes go on when there is space", func(t *testing.T) {
		for range 3 {
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora/full/documents", heavy(len(known)))
			known = append(known, true)
		}
		c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/full/documents/"+heavyID(2), nil)
		known[2] = false
		sees(t, c, known)
	})
	t.Run("everything acknowledged is there after a crash", func(t *testing.T) {
		p.Kill()
		sees(t, testkit.StartBinary(t, dir).Client(), known)
	})
}

// TestStartOnFullDisk proves that a service whose disk has filled up since its last stop starts: it serves reads and
// queries, removes documents and corpora, refuses everything new, and goes on by itself when there is space. So it does
// after a kill and a further start.
func TestStartOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 16<<20)
	dir, filler := filepath.Join(disk, "data"), filepath.Join(disk, "filler")
	p := testkit.StartBinary(t, dir)
	c := p.Client()
	createFull(t, c)
	createCorpus(t, c, "spare")
	known := make([]bool, 4)
	for i := range known {
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora/full/documents", heavy(i))
		known[i] = true
	}
	mustStop(t, p)
	fill(t, filler, 1<<40)
	for _, crash := range []bool{true, false} {
		p = testkit.StartBinary(t, dir)
		c = p.Client()
		awaitLog(t, p, "the disk of the data folder is full")
		sees(t, c, known)
		c.Must(t, http.StatusOK, "GET", "/readyz", nil) // queries are served
		refusedToAdd(t, c)
		if crash {
			p.Kill()
		}
	}
	for i := range 3 {
		c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/full/documents/"+heavyID(i), nil)
		known[i] = false
	}
	c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/spare", nil)
	refusedToAdd(t, c)
	sees(t, c, known)
	remove(t, filler)
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora/full/documents", heavy(len(known)))
	known = append(known, true)
	awaitLog(t, p, "has space again")
	sees(t, c, known)
	mustStop(t, p)
	sees(t, testkit.StartBinary(t, dir).Client(), known)
}

// TestDeletionsBesideRefusals proves that the room that a full disk keeps for deletions is theirs also while other clients try to
// write.
func TestDeletionsBesideRefusals(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 16<<20)
	dir := filepath.Join(disk, "data")
	p := testkit.StartBinary(t, dir)
	c := p.Client()
	createFull(t, c)
	known := []bool{true, true, true}
	for i := range known {
		c.Must(t, http.StatusCreated, "POST", "/v2/corpora/full/documents", heavy(i))
	}
	mustStop(t, p)
	fill(t, filepath.Join(disk, "filler"), 1<<40)
	p = testkit.StartBinary(t, dir)
	c = p.Client()
	refusedToAdd(t, c)
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				status, _, err := c.Do("PATCH", "/v2/corpora/full", map[string]any{"description": fmt.Sprint(i)})
				if err != nil || status != http.StatusServiceUnavailable {
					t.Errorf("a write to a full disk is answered %d (%v), want 503", status, err)
					return
				}
			}
		})
	}
	for i := range known {
		c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/full/documents/"+heavyID(i), nil)
		known[i] = false
	}
	stop()
	group.Wait()
	sees(t, c, known)
}

// writeUntilFull writes heavy documents after the known ones, from several clients at once so that writes share
// commits, until one is refused. It returns for each document whether it was acknowledged.
func writeUntilFull(t *testing.T, c *testkit.Client, known []bool) []bool {
	t.Helper()
	for full := false; !full; {
		const atOnce = 3
		var statuses [atOnce]int
		var answers [atOnce]map[string]any
		var group sync.WaitGroup
		for i := range atOnce {
			group.Go(func() {
				statuses[i], answers[i], _ = c.Do("POST", "/v2/corpora/full/documents", heavy(len(known)+i))
			})
		}
		group.Wait()
		for i, status := range statuses {
			if status != http.StatusCreated && status != http.StatusServiceUnavailable {
				t.Fatalf("a write to a filling disk is answered %d, want 201 or 503: %v", status, answers[i])
			}
			known = append(known, status == http.StatusCreated)
			full = full || status == http.StatusServiceUnavailable
		}
		if len(known) > 1000 {
			t.Fatal("the disk does not get full")
		}
	}
	return known
}

// createFull creates the corpus that fills the disk, with the small document that exhaust writes to.
func createFull(t *testing.T, c *testkit.Client) {
	t.Helper()
	createCorpus(t, c, "full")
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora/full/documents", core("pebble", 4000, "A pebble."))
}

// exhaust takes what room is left, on the disk and in the files of the database, until no small write fits several times
// in a row, be it recorded by the audit or not: a refusal can be followed by room where the log of the database starts anew.
func exhaust(t *testing.T, c *testkit.Client, filler string) {
	t.Helper()
	fill(t, filler, 1<<40)
	const rounds = 10
	for i, refusals := 0, 0; i < 10_000; i++ {
		refusals++
		for _, w := range []struct {
			path string
			body map[string]any
		}{
			{"/v2/corpora/full/documents/pebble", map[string]any{"metadata": map[string]any{"round": i}}},
			{"/v2/corpora/full", map[string]any{"description": fmt.Sprint(i)}},
		} {
			status, answer, err := c.Do("PATCH", w.path, w.body)
			switch {
			case err == nil && status == http.StatusOK:
				refusals = 0
			case err != nil || status != http.StatusServiceUnavailable:
				t.Fatalf("a small write to a full disk is answered %d (%v), want 200 or 503: %v", status, err, answer)
			}
		}
		if refusals == rounds {
			return
		}
	}
	t.Fatal("the disk does not get full")
}

// deletes tries to delete a document on a full disk and reports whether there was room for it.
func deletes(t *testing.T, c *testkit.Client, i int) bool {
	t.Helper()
	status, answer, err := c.Do("DELETE", "/v2/corpora/full/documents/"+heavyID(i), nil)
	if err != nil || status != http.StatusNoContent && status != http.StatusServiceUnavailable {
		t.Fatalf("a deletion on a full disk is answered %d (%v), want 204 or 503: %v", status, err, answer)
	}
	return status == http.StatusNoContent
}

// refusedToAdd tries every kind of write that takes space.
func refusedToAdd(t *testing.T, c *testkit.Client) {
	t.Helper()
	for _, w := range []struct {
		method, path string
		body         any
	}{
		{"POST", "/v2/corpora/full/documents", core("late", 5000, "Too late.")},
		{"POST", "/v2/corpora/full/documents?on_conflict=replace", core(heavyID(0), 5000, "Too late.")},
		{"POST", "/v2/corpora", map[string]any{"key": "late"}},
		{"PATCH", "/v2/corpora/full", map[string]any{"description": "late"}},
		{"PATCH", "/v2/corpora/full/documents/pebble", map[string]any{"metadata": map[string]any{"late": true}}},
		{"PUT", "/v2/corpora/full/documents/pebble/metadata", map[string]any{"metadata": map[string]any{}}},
	} {
		answer := c.Must(t, http.StatusServiceUnavailable, w.method, w.path, w.body)
		if text := fmt.Sprint(answer["messages"]); !strings.Contains(text, "disk of the data folder is full") || !strings.Contains(text, "free some") {
			t.Errorf("%s %s says %q, want what is wrong and what to do", w.method, w.path, text)
		}
	}
}

// sees checks every document: those acknowledged are listed, whole, and found in every way; no other is.
func sees(t *testing.T, c *testkit.Client, known []bool) {
	t.Helper()
	all := listed(t, c, "full")
	for i, acknowledged := range known {
		if all[heavyID(i)] != acknowledged {
			t.Errorf("document %d is listed: %t, want %t", i, !acknowledged, acknowledged)
		}
		mustFind(t, c, "full", heavyID(i), heavyTerm(i), i, acknowledged)
		if !acknowledged {
			continue
		}
		whole := c.Must(t, http.StatusOK, "GET", "/v2/corpora/full/documents/"+heavyID(i), nil)
		if got, want := whole["metadata"].(map[string]any)["ballast"], heavy(i)["metadata"].(map[string]any)["ballast"]; got != want {
			t.Errorf("the metadata of document %d are not what was written", i)
		}
	}
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

// Package binary starts the real program and proves what it does when something goes wrong: starts that can't be, full
// and read-only disks, damaged files, kills, signals and hostile clients. It holds tests alone. What a mixed load
// finds after kills is package crash's, the command line is package script's, the contract package scenario's.
package binary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// patience bounds every wait; nothing here takes a tenth of it on a machine that does nothing else.
const patience = time.Minute

// outcome is what a program that has ended left.
type outcome struct {
	code     int
	out, err string
}

// serve runs "quarry serve" where it must end by itself.
func serve(t *testing.T, env []string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, testkit.Binary(t), append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatalf("quarry serve %q goes on, want it to end\n%s%s", args, &out, &errs)
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// on returns the flags of a server on a folder at a free port.
func on(dir string) []string { return []string{"--data", dir, "--listen", "127.0.0.1:0"} }

// createCorpus creates a corpus whose documents can be filtered by slot.
func createCorpus(t *testing.T, c *testkit.Client, key string) {
	t.Helper()
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora", map[string]any{"key": key, "filter_attributes": []any{
		map[string]any{"name": "slot", "level": "document", "type": "integer"},
	}})
}

// core is a document of one part per text.
func core(id string, slot int, texts ...string) map[string]any {
	parts := make([]any, len(texts))
	for i, text := range texts {
		parts[i] = map[string]any{"text": text}
	}
	return map[string]any{"type": "core", "id": id, "metadata": map[string]any{"slot": slot}, "document_parts": parts}
}

// Ways to ask.
const (
	byMeaning = 0.0
	byTerm    = 1.0
)

// ask returns the search results of a query.
func ask(t *testing.T, c *testkit.Client, corpus, query string, lambda float64, filter string) []any {
	t.Helper()
	answer := c.Must(t, http.StatusOK, "POST", "/v2/corpora/"+corpus+"/query", map[string]any{"query": query, "search": map[string]any{
		"lexical_interpolation": lambda, "limit": 20, "metadata_filter": filter, "reranker": map[string]any{"type": "none"},
	}})
	return answer["search_results"].([]any)
}

// foundIDs returns the documents of results, in order.
func foundIDs(results []any) []string {
	ids := make([]string, len(results))
	for i, r := range results {
		ids[i] = r.(map[string]any)["document_id"].(string)
	}
	return ids
}

// mustFind asks for a document by a term of its own, by meaning and by filter; each must show it, or none.
func mustFind(t *testing.T, c *testkit.Client, corpus, id, term string, slot int, want bool) {
	t.Helper()
	filter := fmt.Sprintf("doc.slot = %d", slot)
	for _, way := range []struct {
		name, query, filter string
		lambda              float64
	}{
		{"by term", term, "", byTerm},
		{"by meaning", term, filter, byMeaning},
		{"by filter", "anything", filter, byMeaning},
	} {
		ids := foundIDs(ask(t, c, corpus, way.query, way.lambda, way.filter))
		if got := len(ids) > 0 && ids[0] == id; got != want {
			t.Errorf("%s, document %s is found: %t, want %t (%q)", way.name, id, got, want, ids)
		}
	}
	status := http.StatusOK
	if !want {
		status = http.StatusNotFound
	}
	c.Must(t, status, "GET", "/v2/corpora/"+corpus+"/documents/"+id, nil)
}

// listed returns the ids of all documents, from the rows.
func listed(t *testing.T, c *testkit.Client, corpus string) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	answer := c.Must(t, http.StatusOK, "GET", "/v2/corpora/"+corpus+"/documents?limit=1000", nil)
	for _, d := range answer["documents"].([]any) {
		ids[d.(map[string]any)["id"].(string)] = true
	}
	return ids
}

// mustStop ends a server in the ordinary way.
func mustStop(t *testing.T, p *testkit.Process) {
	t.Helper()
	if err := p.Stop(); err != nil {
		t.Fatalf("the server ends with %v\n%s", err, p.Log())
	}
}

// mount mounts a file system for the time of the test; args are those of the program mount before the folder.
func mount(t *testing.T, args ...string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		testkit.Skip(t, "mounting needs root")
	}
	dir := t.TempDir()
	if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
		testkit.Skip(t, fmt.Sprintf("mount %q does not work here: %v: %s", args, err, out))
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// readOnly returns dir in a form that this user can't write to, until the end of the test.
func readOnly(t *testing.T, dir string) string {
	t.Helper()
	if os.Geteuid() == 0 { // permissions do not stop root
		return mount(t, "--bind", "-o", "ro", dir)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// smallDisk mounts a disk with that many bytes.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	return mount(t, "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", size), "tmpfs")
}

// fill writes a file of zeros until it has size bytes or the disk is full.
func fill(t *testing.T, name string, size int64) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	for n := int64(0); n < size && err == nil; n += int64(len(block)) {
		_, err = f.Write(block)
	}
	_ = f.Close() // a full disk is what is wanted
}

// copyFolder copies a data folder that no server holds.
func copyFolder(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	copyData(t, to, from)
	return to
}

// copyData copies a data folder that no server holds to a folder that isn't there yet.
func copyData(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(to, "secret.key"), 0o600); err != nil { // CopyFS gives files to everybody
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func write(t *testing.T, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

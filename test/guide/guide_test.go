package guide

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// readerURL is the address in the pages.
const readerURL = "http://localhost:8080"

// patience bounds a page; none takes a tenth of it.
const patience = 3 * time.Minute

// TestPages proves that every example of the guide runs and prints what the page shows.
func TestPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			examples, err := Examples(string(raw))
			if err != nil {
				t.Fatal(err)
			}
			if len(examples) == 0 {
				return // a page of words
			}
			read(t, examples)
		})
	}
}

// read runs the examples of a page in one shell and compares.
func read(t *testing.T, examples []Example) {
	t.Helper()
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.Skip(t, tool+" is not installed")
		}
	}
	data, outputs := t.TempDir(), t.TempDir()
	p := testkit.StartBinary(t, data)
	models := provider(t)
	var script strings.Builder
	script.WriteString("set -e\n")
	for i, e := range examples {
		fmt.Fprintf(&script, "{\n%s\n} >%s/%d 2>&1\n", strings.ReplaceAll(models.asks(e.Shell), readerURL, p.URL), outputs, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir = t.TempDir()
	if err := os.CopyFS(cmd.Dir, os.DirFS("testdata")); err != nil { // the reader's own files
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), modelKeys...)
	cmd.Env = append(cmd.Env, "QUARRY_DATA="+data, "PATH="+filepath.Dir(testkit.Binary(t))+":"+os.Getenv("PATH"))
	failed := cmd.Run()
	for i, e := range examples {
		got, err := os.ReadFile(filepath.Join(outputs, fmt.Sprint(i)))
		if err != nil {
			t.Fatalf("line %d: the example was not reached", e.Line)
		}
		_, next := os.Stat(filepath.Join(outputs, fmt.Sprint(i+1)))
		if failed != nil && next != nil {
			t.Fatalf("line %d: the example fails: %v\n%s", e.Line, failed, got)
		}
		if err := e.Compare(models.shows(string(got))); err != nil {
			t.Errorf("line %d: %v", e.Line, err)
		}
		if os.Getenv("QUARRY_GUIDE_OUTPUT") != "" {
			t.Logf("line %d:\n%s%s", e.Line, e.Shell, got)
		}
	}
}

// TestCompare proves which differences between a page and the output count.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, shown, got string
		json, same       bool
	}{
		{"the same text", "1. a  (0.778)\n", "1. a (0.778)\n", false, true},
		{"another score", "1. a  (0.778)\n", "1. a  (0.800)\n", false, true},
		{"a far score", "1. a  (0.778)\n", "1. a  (0.178)\n", false, false},
		{"another document", "1. a  (0.778)\n", "1. b  (0.778)\n", false, false},
		{"a line more", "1. a\n", "1. a\n2. b\n", false, false},
		{"anything", "job job_… done\n", "job job_77 done\n", false, true},
		{"an excerpt", `{"a":[{"b":1},"…"]}`, `{"a":[{"b":1,"c":2},{"b":3}],"d":4}`, true, true},
		{"a list with one item more", `{"a":[1]}`, `{"a":[1,2]}`, true, false},
		{"another integer", `{"a":1}`, `{"a":2}`, true, false},
		{"another score in JSON", `{"a":0.51}`, `{"a":0.55}`, true, true},
		{"a far score in JSON", `{"a":0.51}`, `{"a":0.95}`, true, false},
		{"a missing member", `{"a":1,"b":2}`, `{"a":1}`, true, false},
		{"the beginning of a text", `{"a":"job_…"}`, `{"a":"job_1"}`, true, true},
		{"another beginning", `{"a":"job_…"}`, `{"a":"crp_1"}`, true, false},
	} {
		err := Example{Shown: tc.shown, JSON: tc.json}.Compare(tc.got)
		if (err == nil) != tc.same {
			t.Errorf("%s: %v, want the same: %t", tc.name, err, tc.same)
		}
	}
}

// TestExamples proves that output belongs to the shell block before it, and that a block out of place is an error.
func TestExamples(t *testing.T) {
	t.Parallel()
	all, err := Examples("Text.\n\n```sh\na\n```\n\n```\nout\n```\n\n```sh\nb\n```\n\nText.\n\n```sh\nc\n```\n```json\n{}\n```\n")
	if err != nil || len(all) != 3 || all[0].Shown != "out\n" || all[1].Shown != "" || !all[2].JSON || all[2].Line != 17 {
		t.Errorf("%+v %v", all, err)
	}
	for _, bad := range []string{"```\nout\n```\n", "```sh\nopen\n", "```sh\na\n```\nText.\n```\nout\n```\n"} {
		if all, err := Examples(bad); err == nil {
			t.Errorf("%q gives %+v, want an error", bad, all)
		}
	}
}

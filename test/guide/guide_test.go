package guide

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const (
	root   = "../.."
	readme = root + "/README.md"
)

// patience bounds a page; none takes a tenth of it.
const patience = 3 * time.Minute

// TestPagesAlone proves that every example of the guide runs and prints what the page shows where nothing has happened but
// the start.
func TestPagesAlone(t *testing.T) {
	t.Parallel()
	for _, name := range pages(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			if all := examples(t, name); slices.ContainsFunc(all, func(e Example) bool { return !e.Unrun }) {
				newReader(t).follow(t, all)
			}
		})
	}
}

// TestPagesAfterEachOther proves the same for a reader who has run the README and every other page before: each page makes
// what it needs under names of its own, and leaves nothing that changes what another page prints.
func TestPagesAfterEachOther(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	opening := examples(t, readme)
	for i := range opening {
		opening[i].Shown = "" // what it finds in docs changes with every page of docs
	}
	if !t.Run("README.md", func(t *testing.T) { r.follow(t, opening) }) {
		return
	}
	for _, name := range slices.Backward(pages(t)) {
		t.Run(filepath.Base(name), func(t *testing.T) { r.follow(t, examples(t, name)) })
	}
}

// TestSyntax proves that the shell reads the examples that only other machines can run.
func TestSyntax(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	for _, name := range append(pages(t), readme) {
		for _, e := range examples(t, name) {
			if !e.Unrun {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-n")
			cmd.Stdin = strings.NewReader(e.Shell)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s, line %d: %v: %s", filepath.Base(name), e.Line, err, out)
			}
		}
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(root + "/docs/guide/*.md")
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return names
}

func examples(t *testing.T, page string) []Example {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Examples(string(raw))
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(page), err)
	}
	return all
}

func needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.Skip(t, tool+" is not installed")
		}
	}
}

// reader works in a folder in which the service was started: its data is in quarry-data, it listens on some port, and beside
// it lies what the README indexes.
type reader struct {
	dir    string
	env    []string
	models providers
}

func newReader(t *testing.T) *reader {
	t.Helper()
	needs(t, "bash", "curl")
	r := &reader{dir: t.TempDir(), models: provider(t), env: modelKeys}
	testkit.StartBinary(t, filepath.Join(r.dir, "quarry-data"))
	program := testkit.Binary(t)
	if err := errors.Join(os.Symlink(program, filepath.Join(r.dir, "quarry")), copyDocs(filepath.Join(r.dir, "docs"))); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "QUARRY_") && !strings.HasPrefix(v, "PATH=") {
			r.env = append(r.env, v)
		}
	}
	r.env = append(r.env, "PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return r
}

// copyDocs makes a folder of three pages of docs, since all of them would take long to encode.
func copyDocs(to string) error {
	from, err := filepath.Glob(root + "/docs/decisions/000[2-4]-*.md")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, name := range from {
		raw, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(name)), raw, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// follow runs the examples of a page in one shell and compares.
func (r *reader) follow(t *testing.T, all []Example) {
	t.Helper()
	all = slices.DeleteFunc(all, func(e Example) bool { return e.Unrun })
	outputs := t.TempDir()
	var script strings.Builder
	script.WriteString("set -e\n")
	for i, e := range all {
		fmt.Fprintf(&script, "{\n%s\n} >%s/%d 2>&1\n", r.models.asks(e.Shell), outputs, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Env = r.dir, r.env
	failed := cmd.Run()
	for i, e := range all {
		got, err := os.ReadFile(filepath.Join(outputs, fmt.Sprint(i)))
		if err != nil {
			t.Fatalf("line %d: the example was not reached", e.Line)
		}
		_, next := os.Stat(filepath.Join(outputs, fmt.Sprint(i+1)))
		if failed != nil && next != nil {
			t.Fatalf("line %d: the example fails: %v\n%s", e.Line, failed, got)
		}
		if err := e.Compare(r.models.shows(string(got))); err != nil {
			t.Errorf("line %d: %v", e.Line, err)
		}
		if os.Getenv("QUARRY_GUIDE_OUTPUT") != "" {
			t.Logf("line %d:\n%s%s", e.Line, e.Shell, got)
		}
	}
}

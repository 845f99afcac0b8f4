package guide

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quarry/internal/testkit"
)

// patience bounds a page; those that download nothing take a tenth of it.
const patience = 5 * time.Minute

// Reader works in a folder in which the service was started: its data is in quarry-data, and it listens on some port.
type Reader struct {
	Dir string
	Env []string
	// Everything includes the examples that need more than the service.
	Everything bool

	models providers
}

// NewReader starts the service.
func NewReader(t *testing.T) *Reader {
	t.Helper()
	Needs(t, "bash", "curl")
	r := &Reader{Dir: t.TempDir(), Env: slices.Clone(modelKeys), models: provider(t)}
	testkit.StartBinary(t, filepath.Join(r.Dir, "quarry-data"))
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "QUARRY_") && !strings.HasPrefix(v, "PATH=") {
			r.Env = append(r.Env, v)
		}
	}
	r.Env = append(r.Env, "XDG_CACHE_HOME="+filepath.Join(r.Dir, "cache"), "PATH="+filepath.Dir(testkit.Binary(t))+string(os.PathListSeparator)+os.Getenv("PATH"))
	return r
}

// Needs skips the test where a tool is not installed.
func Needs(t *testing.T, tools ...string) {
	t.Helper()
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			testkit.Skip(t, tool+" is not installed")
		}
	}
}

// Load returns the examples of a page.
func Load(t *testing.T, page string) []Example {
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

// progress is what a command prints besides where it takes long, as on a busy machine.
var progress = regexp.MustCompile(`(?m)^[█░]+ .*\n`)

// Follow runs the examples of a page in one shell and compares what they print.
func (r *Reader) Follow(t *testing.T, all []Example) {
	t.Helper()
	all = slices.DeleteFunc(slices.Clone(all), func(e Example) bool { return e.Unrun && !r.Everything })
	outputs := t.TempDir()
	var script strings.Builder
	script.WriteString("set -e\n")
	for i, e := range all {
		shell := r.models.asks(e.Text)
		if e.File != "" {
			shell = fmt.Sprintf("cat >%s <<'END-OF-FILE'\n%sEND-OF-FILE", e.File, e.Text)
		}
		fmt.Fprintf(&script, "{\n%s\n} >%s/%d 2>&1\n", shell, outputs, i)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script.String())
	cmd.Dir, cmd.Env = r.Dir, r.Env
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
		if err := e.Compare(r.models.shows(progress.ReplaceAllString(string(got), ""))); err != nil {
			t.Errorf("line %d: %v", e.Line, err)
		}
		if os.Getenv("QUARRY_GUIDE_OUTPUT") != "" {
			t.Logf("line %d:\n%s%s", e.Line, e.Text, got)
		}
	}
}

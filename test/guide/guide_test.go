package guide

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quarry/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

const (
	root   = "../.."
	readme = root + "/README.md"
)

// needed are the programs that a page calls, besides those that every page needs.
var needed = map[string][]string{"backup.md": {"sqlite3"}, "deploy.md": {"openssl"}, "upgrade.md": {"sqlite3"}}

// TestPagesAlone proves that every example of the guide runs and prints what the page shows where nothing has happened but
// the start, and a second time: it cleans up.
func TestPagesAlone(t *testing.T) {
	t.Parallel()
	for _, name := range pages(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			Needs(t, needed[filepath.Base(name)]...)
			if all := Load(t, name); slices.ContainsFunc(all, func(e Example) bool { return !e.Unrun }) {
				r := NewReader(t)
				r.Follow(t, all)
				r.Follow(t, all)
			}
		})
	}
}

// TestPagesAfterEachOther proves the same for a reader who has run the README and every other page before: each page makes
// what it needs under names of its own, and leaves nothing that changes what another page prints.
func TestPagesAfterEachOther(t *testing.T) {
	t.Parallel()
	r := NewReader(t)
	if err := errors.Join(os.Symlink(testkit.Binary(t), filepath.Join(r.Dir, "quarry")), os.CopyFS(filepath.Join(r.Dir, "docs"), os.DirFS(root+"/docs"))); err != nil {
		t.Fatal(err)
	}
	opening := Load(t, readme)
	for i := range opening {
		opening[i].Shown = counts.ReplaceAllString(opening[i].Shown, "… $1…")
	}
	if !t.Run("README.md", func(t *testing.T) { r.Follow(t, opening) }) {
		return
	}
	for _, name := range slices.Backward(pages(t)) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			Needs(t, needed[filepath.Base(name)]...)
			r.Follow(t, Load(t, name))
		})
	}
}

// TestTroubles proves that the program still says what the headings of the page on troubles quote.
func TestTroubles(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(root + "/docs/guide/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	err = filepath.WalkDir(root+"/internal", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(name)
		sources.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`(?m)^## "([^"]+)"`).FindAllStringSubmatch(string(page), -1)
	if len(quoted) < 5 {
		t.Fatalf("the page quotes %d messages", len(quoted))
	}
	for _, q := range quoted {
		for part := range strings.SplitSeq(q[1], "…") {
			if !strings.Contains(sources.String(), strings.TrimSpace(part)) {
				t.Errorf("no message has %q", part)
			}
		}
	}
}

// TestSyntax proves that the shell reads the examples that only other machines can run.
func TestSyntax(t *testing.T) {
	t.Parallel()
	Needs(t, "bash")
	for _, name := range append(pages(t), readme) {
		for _, e := range Load(t, name) {
			if !e.Unrun {
				continue
			}
			cmd := exec.CommandContext(t.Context(), "bash", "-n")
			cmd.Stdin = strings.NewReader(e.Text)
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

// counts are what changes with every page of docs, and with the machine.
var counts = regexp.MustCompile(`\d+ (new|passages in ).*`)

package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inBackticks matches a path in backticks; NAME stands for a name that the reader chooses.
var inBackticks = regexp.MustCompile("`([A-Za-z.][A-Za-z0-9_.-]*(?:/[A-Za-z0-9_.-]*)+|[A-Z]+\\.md)`")

// TestContributing proves that every file and folder that docs/contributing.md names exists.
func TestContributing(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/contributing.md")
	if err != nil {
		t.Fatal(err)
	}
	named := inBackticks.FindAllSubmatch(page, -1)
	if len(named) < 40 {
		t.Errorf("the page names %d files, want 40 or more", len(named))
	}
	for _, m := range named {
		path, _, _ := strings.Cut(string(m[1]), "NAME")
		if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
			t.Errorf("docs/contributing.md names %s: %v", m[1], err)
		}
	}
}

package browser

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/testkit"
)

func TestBuilt(t *testing.T) {
	// Proves that the console in the repository is what its source builds, byte by byte, in another folder and with the packages of
	// the lock file.
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "node", "-e", "const [a, b] = process.versions.node.split('.').map(Number); process.exit(a > 20 || a === 20 && b >= 19 ? 0 : 1)").CombinedOutput(); err != nil {
		testkit.Skip(t, "the build of the console needs Node 20.19 or newer: "+strings.TrimSpace(string(out)))
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	for _, name := range strings.Fields(run(t, root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "web")) {
		raw, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(copied, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	web := filepath.Join(copied, "web")
	run(t, web, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	run(t, web, "npm", "run", "--silent", "build")
	if diff := cmp.Diff(files(t, filepath.Join(copied, "internal/console/dist")), files(t, filepath.Join(root, "internal/console/dist"))); diff != "" {
		t.Errorf("make console builds something else than what is there (-built +there):\n%.4000s", diff)
	}
}

// run runs a program in a folder and returns what it prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// files returns the files of a folder with their contents.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir)] = string(raw)
		return err
	})
	if err != nil || len(out) < 5 {
		t.Fatalf("%s has %d files (%v)", dir, len(out), err)
	}
	return out
}

package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"quarry/internal/folder/source"
	"quarry/internal/testkit"
)

func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }

// TestRights proves that folders and files without rights are problems that say what to do, while the others go on.
func TestRights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "a", "no.md": "n", "no.json": body, "shut/b.md": "b", "dark/.quarryignore": "x", "dark/c.md": "c", "no.zip": "", "no.jsonl": body})
	rights := map[string]os.FileMode{"a.md": 0o644, "no.md": 0, "no.json": 0, "no.zip": 0, "no.jsonl": 0, "shut": 0, "dark": 0o755, "dark/.quarryignore": 0, "dark/c.md": 0o644}
	for name, mode := range rights {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // for nobody
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "shut"), 0o700) })
	read := map[string]error{}
	problems := map[string]source.Problem{}
	testkit.AsNobody(t, func() {
		roots, err := source.Resolve([]string{dir, filepath.Join(dir, "no.zip"), filepath.Join(dir, "no.jsonl")})
		if err != nil {
			t.Error(err)
		}
		f, err := source.New(source.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		for _, root := range roots {
			found, err := f.Find(t.Context(), root, func(i source.Item) error {
				_, err := i.Read(t.Context())
				read[i.ID] = err
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			for _, p := range found.Problems {
				problems[below(dir, p.Place)] = p
			}
		}
	})
	if len(read) != 2 || read["a.md"] != nil || read["no.md"] == nil || !strings.Contains(read["no.md"].Error(), "no right to read it") {
		t.Errorf("read %v", read)
	}
	for place, want := range map[string]source.Problem{
		"no.json": {ID: "no.json"}, "shut": {ID: "shut/", Below: true}, "dark/.quarryignore": {ID: "dark/", Below: true}, "no.zip": {Below: true}, "no.jsonl": {Below: true},
	} {
		p := problems[place]
		if !strings.Contains(p.Reason, "no right to read it") || p.Advice == "" || p.ID != want.ID || p.Below != want.Below {
			t.Errorf("%s: %+v", place, p)
		}
	}
}

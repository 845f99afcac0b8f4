package folder_test

import (
	"os"
	"path/filepath"
	"testing"

	"quarry/internal/folder"
	"quarry/internal/testkit"
)

// TestUnreadableFolder proves that documents behind a folder that can't be read are not taken for gone.
func TestUnreadableFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.md": "A", "d/b.md": "B"})
	b.want("2 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", "a.md", "d/b.md")
	shut := filepath.Join(b.dir, "d")
	for path, mode := range map[string]os.FileMode{shut: 0, b.dir: 0o755, filepath.Dir(b.dir): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(shut, 0o700) })
	b.change = func(c *folder.Config) { c.Remove = true }
	s, closing := b.open()
	defer closing()
	var result folder.Result
	var err error
	testkit.AsNobody(t, func() { result, err = s.Pass(t.Context()) })
	if want := "0 new, 0 changed, 1 unchanged, 0 gone, 0 removed, 1 failed"; err != nil || sums(result) != want {
		t.Errorf("got %s (%v), want %s; %v", sums(result), err, want, result.Failures)
	}
	if !b.corpus.holds(map[string]string{"a.md": "A", "d/b.md": "B"}) {
		t.Error("a document went whose file can't be seen")
	}
}

package source_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/folder/source"
	"quarry/internal/testkit"
)

// one returns the only item of a search.
func one(t *testing.T, r result) source.Item {
	t.Helper()
	if len(r.items) != 1 {
		t.Fatalf("found %s, problems %s", r.ids(), r.problems())
	}
	return r.items[0]
}

func gone(t *testing.T, i source.Item) {
	t.Helper()
	if _, err := i.Read(t.Context()); !errors.Is(err, source.ErrGone) {
		t.Errorf("%s: %v", i.ID, err)
	}
}

// TestNames proves that names which cannot be the id of a document are problems while others go on, and that long ones of any
// script can be.
func TestNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		testkit.Skip(t, "other systems do not allow these names")
	}
	dir := t.TempDir()
	thai := strings.Repeat("ก", 84) + ".md" // 255 bytes
	deep := strings.Repeat("x", 250) + "/"
	write(t, dir, map[string]string{
		"a.md": "a", "new\nline.md": "n", "tab\t.md": "t", "bad\xFF.md": "b", "bad\xFFfolder/c.md": "c", "c d'e%20&f.md": "s", thai: "thai",
		deep + deep + deep + deep + deep + "far.md": "deep", "<b>.md": "angle",
	})
	r := search(t, dir, source.Options{}, ".")
	if want := "<b>.md a.md c d'e%20&f.md " + thai; r.ids() != want {
		t.Errorf("found %q", r.ids())
	}
	for _, want := range []string{
		"new\nline.md: the name has a line break", "tab\t.md: the name has a line break", "bad\xFF.md: the name is not UTF-8",
		"bad\xFFfolder: the name is not UTF-8", ": the path has 1254 bytes; ids of documents have at most 1024",
	} {
		if !strings.Contains(r.problems(), want) {
			t.Errorf("no problem %q in %q", want, r.problems())
		}
	}
	for _, p := range r.Problems {
		if p.Stage != source.StageFind || p.Advice == "" {
			t.Errorf("the problem is %+v", p)
		}
	}
	r = search(t, dir, source.Options{Exclude: []string{"*[^a-z'.]*", "x*"}, Include: []string{"*.md"}}, ".")
	if r.ids() != "a.md" || r.problems() != "" {
		t.Errorf("found %q, problems %q", r.ids(), r.problems())
	}
}

// TestLinksAndSpecialFiles proves that links and files that are none are left out with what they are, and that a link which
// is named is followed.
func TestLinksAndSpecialFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"d/a.md": "a", "d/sub/b.md": "b", "out.md": "o"})
	for name, target := range map[string]string{
		"d/in.md": "a.md", "d/out.md": "../out.md", "d/up": "..", "d/sub/self.md": "self.md", "d/x.md": "y.md", "d/y.md": "x.md", "d/none.md": "nosuch.md",
		"link.md": "d/a.md", "linked": "d/sub",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "d", "s.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := pipe(filepath.Join(dir, "d", "p.md")); err != nil {
		t.Fatal(err)
	}
	r := search(t, dir, source.Options{}, "d")
	if r.ids() != "a.md sub/b.md" || r.problems() != "" {
		t.Errorf("found %s, problems %s", r.ids(), r.problems())
	}
	reasons := map[string]string{}
	for _, out := range r.LeftOut {
		reasons[out.Place] = out.Reason
	}
	for place, want := range map[string]string{
		"d/in.md": "a link to a.md;", "d/out.md": "a link to ../out.md;", "d/up": "a link to ..;", "d/sub/self.md": "in a circle (self.md);",
		"d/x.md": "in a circle (y.md);", "d/y.md": "in a circle (x.md);", "d/none.md": "a link to nothing (nosuch.md);", "d/s.md": "a socket", "d/p.md": "a pipe",
	} {
		if !strings.Contains(reasons[place], want) {
			t.Errorf("%s is left out as %q", place, reasons[place])
		}
	}
	r = search(t, dir, source.Options{}, "link.md", "linked")
	if r.ids() != "link.md b.md" || r.texts["link.md"] != "a" {
		t.Errorf("found %s", r.ids())
	}
	if _, err := source.Resolve([]string{filepath.Join(dir, "d", "p.md")}); err == nil || !strings.Contains(err.Error(), "a pipe") {
		t.Errorf("a pipe that is named: %v", err)
	}
	if _, err := source.Resolve([]string{filepath.Join(dir, "d", "x.md")}); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Errorf("a circle that is named: %v", err)
	}
}

// TestSizes proves that large files are refused without being read, naming the setting, and that an empty one is a problem
// where it was named.
func TestSizes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"d/big.md": "", "d/big.json": "", "d/fits.md": strings.Repeat("x", 100), "d/over.md": strings.Repeat("x", 101), "empty.md": "",
		"d/body.json": `{"sections":"` + strings.Repeat("x", 300), "d/list.json": "[" + strings.Repeat("1,", 300),
		"d/known.json": `{"type":"core","id":"k","x":"` + strings.Repeat("x", 300),
	})
	for _, name := range []string{"d/big.md", "d/big.json"} {
		if err := os.Truncate(filepath.Join(dir, name), 2<<30); err != nil {
			t.Fatal(err)
		}
	}
	r := search(t, dir, source.Options{MaxFile: 100, MaxBody: 200}, "d", "empty.md")
	if r.ids() != "fits.md" || r.left() != "no-body:d/big.json no-body:d/list.json" {
		t.Errorf("found %s, left out %s", r.ids(), r.left())
	}
	want := []string{
		"d/big.md: it has 2147483648 bytes, more than the 100", "d/body.json: it has 313 bytes, more than the 200", "d/known.json: it has 329 bytes",
		"d/over.md: it has 101 bytes", "empty.md: the file is empty",
	}
	if got := strings.Split(r.problems(), "\n"); len(got) != len(want) {
		t.Errorf("problems: %q", got)
	}
	for _, line := range want {
		if !strings.Contains(r.problems(), line) {
			t.Errorf("no problem %s in %s", line, r.problems())
		}
	}
	for _, p := range r.Problems {
		setting := map[bool]string{true: "QUARRY_MAX_JSON", false: "QUARRY_MAX_UPLOAD"}[strings.HasSuffix(p.Place, ".json")]
		if p.Place != "empty.md" && (!strings.Contains(p.Advice, setting) || p.ID == "") {
			t.Errorf("the problem is %+v", p)
		}
	}
}

// TestReadLater proves what Read returns for a file that was changed, grew too large, was replaced by something else or was
// deleted since it was found.
func TestReadLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "d", "a.md")
	write(t, dir, map[string]string{"d/a.md": "first", "secret.md": "secret"})
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	i := one(t, search(t, dir, source.Options{MaxFile: 10}, "d"))
	if c, err := i.Read(t.Context()); err != nil || string(c.Data) != "first" || !c.Settled || c.Stamp != i.Stamp {
		t.Errorf("unchanged: %+v, %v", c, err)
	}
	write(t, dir, map[string]string{"d/a.md": "second"})
	if c, err := i.Read(t.Context()); err != nil || string(c.Data) != "second" || c.Settled || c.Stamp == i.Stamp || c.Size != 6 {
		t.Errorf("changed: %+v, %v", c, err)
	}
	write(t, dir, map[string]string{"d/a.md": "more than ten bytes"})
	if _, err := i.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "it has 19 bytes") {
		t.Errorf("grown: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	gone(t, i)
	if err := os.Symlink("../secret.md", path); err != nil {
		t.Fatal(err)
	}
	if c, err := i.Read(t.Context()); err == nil {
		t.Errorf("a link out of the folder: %s", c.Data)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := pipe(path); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Read(t.Context()); err == nil || !strings.Contains(err.Error(), "not a regular file any more") {
		t.Errorf("a pipe: %v", err)
	}
}

// TestReadWhileWritten proves that what Read returns was the whole content at one time, or that it fails with the advice to
// run again, while a writer goes on.
func TestReadWhileWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.md")
	write(t, dir, map[string]string{"a.md": strings.Repeat("a", 1<<20)})
	i := one(t, search(t, dir, source.Options{}, "a.md"))
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				text := strings.Repeat(string(rune('a'+n%26)), 1<<20+n%7)
				if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
					done <- err
					return
				}
				if err := os.Rename(path+".new", path); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	for range 20 {
		c, err := i.Read(t.Context())
		var p *source.Problem
		switch {
		case errors.As(err, &p) && strings.Contains(p.Reason, "changes while it is read") && strings.Contains(p.Advice, "again"):
		case err != nil:
			t.Errorf("read: %v", err)
		case strings.Trim(string(c.Data), string(c.Data[0])) != "" || int64(len(c.Data)) != c.Size:
			t.Errorf("read %d bytes of several contents, stamped %d", len(c.Data), c.Size)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestIgnoreFileThatIsWrong proves that a folder is not read where its patterns cannot be, since what the user leaves out would
// be sent, and that its documents do not count as gone.
func TestIgnoreFileThatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "a", "sub/.quarryignore": "ok\nbad[\n", "sub/b.md": "b", "dir/.quarryignore/": "", "dir/c.md": "c"})
	r := search(t, dir, source.Options{}, ".")
	if r.ids() != "a.md" || !strings.Contains(r.problems(), "sub/.quarryignore: line 2: the pattern") || len(r.Problems) != 2 {
		t.Errorf("found %s, problems %s", r.ids(), r.problems())
	}
	for i, id := range []string{"dir/", "sub/"} {
		if p := r.Problems[i]; p.ID != id || !p.Below {
			t.Errorf("the problem is %+v", p)
		}
	}
}

// TestIdentity proves that files which change places are noticed although size and time are the same.
func TestIdentity(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		testkit.Skip(t, "this system does not say which file it is")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "aaa", "b.md": "bbb"})
	at := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.md", "b.md"} {
		if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	before := search(t, dir, source.Options{}, ".")
	for _, move := range [][2]string{{"a.md", "c"}, {"b.md", "a.md"}, {"c", "b.md"}} {
		if err := os.Rename(filepath.Join(dir, move[0]), filepath.Join(dir, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	after := search(t, dir, source.Options{}, ".")
	for i := range before.items {
		a, b := before.items[i], after.items[i]
		if a.Size != b.Size || !a.Modified.Equal(b.Modified) || a.Stamp == b.Stamp {
			t.Errorf("%s: %+v and %+v", a.ID, a.Stamp, b.Stamp)
		}
	}
}

package binary

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/testkit"
)

// bulk is how many parts make the index worth a file when the server stops.
const bulk = 2100

// history is one corpus at three points of its life, each a data folder that was closed in the ordinary way.
type history struct {
	first string // the bulk document alone; its index has files
	later string // a few changes on: the files of first are still those of the index
	last  string // the bulk document is gone and others have come: the index has new files
}

// past creates the history once; the folders are removed after the last test.
var past struct {
	once sync.Once
	history
}

func TestMain(m *testing.M) {
	code := testkit.Main(m)
	for _, dir := range []string{past.first, past.later, past.last} {
		if dir != "" {
			_ = os.RemoveAll(filepath.Dir(dir)) // in the folder of temporary files
		}
	}
	os.Exit(code)
}

// tell returns the history, which the first call creates.
func tell(t *testing.T) history {
	t.Helper()
	past.once.Do(func() {
		dir := filepath.Join(t.TempDir(), "data")
		session(t, dir, func(c *testkit.Client) {
			createCorpus(t, c, "past")
			put(t, c, core("bulk", 1, words("w")...))
		})
		past.first = keep(t, dir)
		session(t, dir, func(c *testkit.Client) {
			put(t, c, core("tank", 2, "The tank holds yankee1q litres of water."))
			put(t, c, core("gone", 3, "This xray1q page will be deleted."))
			c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/past/documents/gone", nil)
		})
		past.later = keep(t, dir)
		session(t, dir, func(c *testkit.Client) {
			c.Must(t, http.StatusNoContent, "DELETE", "/v2/corpora/past/documents/bulk", nil)
			put(t, c, core("bulk-2", 4, words("v")...))
			for i := range 4 {
				put(t, c, core(fmt.Sprintf("new-%d", i), 10+i, fmt.Sprintf("The new whiskey%dq valve opens.", i)))
			}
		})
		past.last = keep(t, dir)
	})
	if past.last == "" {
		t.Fatal("the history could not be made; the test that began it says why")
	}
	return past.history
}

// words returns short texts, quick to encode, each with a term of its own.
func words(prefix string) []string {
	texts := make([]string, bulk)
	for i := range texts {
		texts[i] = fmt.Sprintf("%s%dq", prefix, i)
	}
	return texts
}

// session runs a server over a folder for the time of use.
func session(t *testing.T, dir string, use func(*testkit.Client)) (log string) {
	t.Helper()
	p := testkit.StartBinary(t, dir)
	use(p.Client())
	mustStop(t, p)
	return p.Log()
}

func put(t *testing.T, c *testkit.Client, document map[string]any) {
	t.Helper()
	c.Must(t, http.StatusCreated, "POST", "/v2/corpora/past/documents", document)
}

// keep copies a folder to where it outlives the test.
func keep(t *testing.T, dir string) string {
	t.Helper()
	to, err := os.MkdirTemp("", "quarry-history-")
	if err != nil {
		t.Fatal(err)
	}
	to = filepath.Join(to, "data")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// indexFile returns the one file of the index that matches pattern.
func indexFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "index", "*", pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files %s in the index, want 1: %q %v", len(found), pattern, found, err)
	}
	return found[0]
}

// answers asks what the documents of the history are found by. Equal answers name equal passages with equal scores.
func answers(t *testing.T, c *testkit.Client) map[string]any {
	t.Helper()
	out := map[string]any{"listed": listed(t, c, "past")}
	for _, q := range []struct {
		query, filter string
		lambda        float64
	}{
		{"w7q", "", byTerm}, {"v7q", "", byTerm}, {"w2099q", "", byTerm}, {"yankee1q", "", byTerm}, {"xray1q", "", byTerm}, {"whiskey3q", "", byTerm},
		{"water in a container", "", byMeaning}, {"valve", "", byMeaning}, {"w77q", "doc.slot = 1", byMeaning},
		{"opening", "doc.slot >= 2", byMeaning}, {"tank w5q valve", "", 0.025},
	} {
		out[fmt.Sprintf("%s | %s | %v", q.query, q.filter, q.lambda)] = ask(t, c, "past", q.query, q.lambda, q.filter)
	}
	return out
}

// answersOf starts a server on a copy of a folder to ask it.
func answersOf(t *testing.T, dir string) (out map[string]any) {
	t.Helper()
	session(t, copyFolder(t, dir), func(c *testkit.Client) { out = answers(t, c) })
	return out
}

// TestHistory proves that the history is what the tests below take it for.
func TestHistory(t *testing.T) {
	t.Parallel()
	h := tell(t)
	for _, tc := range []struct {
		dir  string
		want map[string]bool
	}{
		{h.first, map[string]bool{"bulk": true}},
		{h.later, map[string]bool{"bulk": true, "tank": true}},
		{h.last, map[string]bool{"bulk-2": true, "tank": true, "new-0": true, "new-1": true, "new-2": true, "new-3": true}},
	} {
		if diff := cmp.Diff(tc.want, answersOf(t, tc.dir)["listed"]); diff != "" {
			t.Errorf("documents (-want +got):\n%s", diff)
		}
		indexFile(t, tc.dir, "*.seg")
	}
	if string(read(t, indexFile(t, h.first, "MANIFEST"))) == string(read(t, indexFile(t, h.last, "MANIFEST"))) {
		t.Error("the index files of the last state are those of the first")
	}
}

// TestDamagedIndex proves that index files that are not what was written are named in the log and made again, and
// that answers stay what they were.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	h := tell(t)
	want := answersOf(t, h.later)
	flip := func(at func(size int) int) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			raw := read(t, name)
			raw[at(len(raw))] ^= 0x10
			write(t, name, raw)
		}
	}
	cut := func(part int) func(*testing.T, string) {
		return func(t *testing.T, name string) { write(t, name, read(t, name)[:len(read(t, name))/100*part]) }
	}
	for _, tc := range []struct {
		name, file string
		damage     func(t *testing.T, file string)
	}{
		{"first byte", "*.seg", flip(func(int) int { return 0 })},
		{"a third in", "*.seg", flip(func(n int) int { return n / 3 })},
		{"two thirds in", "*.seg", flip(func(n int) int { return n / 3 * 2 })},
		{"last byte", "*.seg", flip(func(n int) int { return n - 1 })},
		{"half a segment", "*.seg", cut(50)},
		{"empty segment", "*.seg", cut(0)},
		{"no segment", "*.seg", remove},
		{"half a manifest", "MANIFEST", cut(50)},
		{"empty manifest", "MANIFEST", cut(0)},
		{"another manifest", "MANIFEST", flip(func(n int) int { return n / 2 })},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := copyFolder(t, h.later)
			file := indexFile(t, dir, tc.file)
			tc.damage(t, file)
			var got map[string]any
			log := session(t, dir, func(c *testkit.Client) { got = answers(t, c) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			if !strings.Contains(log, filepath.Base(file)) || !strings.Contains(log, "corpus=past") {
				t.Errorf("the log does not name %s and its corpus:\n%s", filepath.Base(file), log)
			}
			// What was rebuilt is sound: the next start logs nothing.
			log = session(t, dir, func(c *testkit.Client) { got = answers(t, c) })
			if diff := cmp.Diff(want, got); diff != "" || strings.Contains(log, "WARN") || strings.Contains(log, "ERROR") {
				t.Errorf("the start after (-want +got):\n%s\n%s", diff, log)
			}
			indexFile(t, dir, "*.seg")
		})
	}
}

// TestLostIndex proves that the index is made again when it is gone, when others' files lie in its place, and when
// its files are older or newer than the database.
func TestLostIndex(t *testing.T) {
	t.Parallel()
	h := tell(t)
	for _, tc := range []struct {
		name, from string
		change     func(t *testing.T, dir string)
	}{
		{"no folder", h.later, func(t *testing.T, dir string) { removeAll(t, filepath.Join(dir, "index")) }},
		{"no manifest", h.later, func(t *testing.T, dir string) { remove(t, indexFile(t, dir, "MANIFEST")) }},
		{"left over files", h.later, func(t *testing.T, dir string) {
			folder := filepath.Dir(indexFile(t, dir, "MANIFEST"))
			for _, name := range []string{"9.seg", "9.seg.tmp", "1.del.7", "MANIFEST.tmp"} {
				write(t, filepath.Join(folder, name), []byte("left by a crash"))
			}
		}},
		{"older than the database", h.last, func(t *testing.T, dir string) { replaceIndex(t, dir, h.first) }},
		{"newer than the database", h.first, func(t *testing.T, dir string) { replaceIndex(t, dir, h.last) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := answersOf(t, tc.from)
			dir := copyFolder(t, tc.from)
			tc.change(t, dir)
			for _, start := range []string{"first", "second"} {
				var got map[string]any
				session(t, dir, func(c *testkit.Client) { got = answers(t, c) })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("answers of the %s start (-want +got):\n%s", start, diff)
				}
			}
		})
	}
}

// TestRestoredDatabase proves that an older copy of the database wins over the index even when writes, which nobody
// has searched for yet, have brought it as far as the index was.
func TestRestoredDatabase(t *testing.T) {
	t.Parallel()
	h := tell(t)
	dir := copyFolder(t, h.first)
	replaceIndex(t, dir, h.last)
	session(t, dir, func(c *testkit.Client) {
		for i := range 12 { // more changes than lie between first and last
			c.Must(t, http.StatusCreated, "POST", "/v2/corpora/past/documents?wait_for=indexed",
				core(fmt.Sprintf("after-%d", i), 100+i, fmt.Sprintf("After the restore, victor%dq.", i)))
		}
		mustFind(t, c, "past", "bulk", "w7q", 1, true)
		for i := range 12 {
			mustFind(t, c, "past", fmt.Sprintf("after-%d", i), fmt.Sprintf("victor%dq", i), 100+i, true)
		}
		for i := range 4 {
			mustFind(t, c, "past", fmt.Sprintf("new-%d", i), fmt.Sprintf("whiskey%dq", i), 10+i, false)
		}
	})
}

// replaceIndex puts the index files of another folder in place of those of dir.
func replaceIndex(t *testing.T, dir, from string) {
	t.Helper()
	to := filepath.Join(dir, "index")
	removeAll(t, to)
	if err := os.CopyFS(to, os.DirFS(filepath.Join(from, "index"))); err != nil {
		t.Fatal(err)
	}
}

func removeAll(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// TestIndexOnFullDisk proves that an index that can't be saved is told of in the log and costs nothing else: queries are
// answered and the server ends as it should. With space again it is saved.
func TestIndexOnFullDisk(t *testing.T) {
	t.Parallel()
	h := tell(t)
	want := answersOf(t, h.first)
	const size = 16 << 20
	disk := smallDisk(t, size)
	dir, filler := filepath.Join(disk, "data"), filepath.Join(disk, "filler")
	copyData(t, dir, h.first)
	removeAll(t, filepath.Join(dir, "index"))
	info, err := os.Stat(filepath.Join(dir, "quarry.db"))
	if err != nil {
		t.Fatal(err)
	}
	fill(t, filler, size-info.Size()-1<<20) // room to start, none for the 2 MB of the index
	for _, full := range []bool{true, false} {
		var got map[string]any
		log := session(t, dir, func(c *testkit.Client) { got = answers(t, c) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answers (-want +got):\n%s", diff)
		}
		if told := strings.Contains(log, "index_not_saved"); told != full {
			t.Errorf("the log tells of an index that was not saved: %t, want %t\n%s", told, full, log)
		}
		if full {
			remove(t, filler)
		}
	}
	indexFile(t, dir, "*.seg")
}

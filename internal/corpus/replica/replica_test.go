package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/replica"
	"quarry/internal/embed"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// fixture is a real database with one corpus, and replicas over it.
type fixture struct {
	t         *testing.T
	dir       string
	documents *documents.Store
	corpora   *corpora.Store
	encoders  *embed.Registry
	set       *replica.Set
	log       *bytes.Buffer
	random    *rand.Rand
	key       string
}

func newWorld(t *testing.T) *fixture {
	t.Helper()
	return newWorldOn(t, store.Config{Dir: t.TempDir()})
}

// newWorldOn returns a world over a database of the given kind.
func newWorldOn(t *testing.T, config store.Config) *fixture {
	t.Helper()
	dir := t.TempDir()
	db, err := store.Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	encoders, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{
		t: t, dir: filepath.Join(dir, "index"), documents: documents.New(db), corpora: corpora.New(db), encoders: encoders,
		random: rand.New(rand.NewPCG(1, 2)), key: "c",
	}
	w.open()
	t.Cleanup(func() {
		if err := w.set.Close(); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	_, fingerprint, _ := encoders.Resolve("")
	_, err = w.corpora.Create(t.Context(), corpus.Corpus{
		ID: id.NewCorpus(), Key: w.key, Name: "c", Enabled: true, EncoderName: embed.DefaultName, EncoderFingerprint: fingerprint,
		Attributes: []corpus.Attribute{{Name: "n", Level: "document", Type: "integer", Indexed: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// open starts over with replicas that know nothing but the files.
func (w *fixture) open() {
	w.log = &bytes.Buffer{}
	w.set = replica.New(replica.Config{
		Dir: w.dir, Documents: w.documents, Corpora: w.corpora, Encoders: w.encoders,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	})
}

func (w *fixture) restart() {
	w.t.Helper()
	if err := w.set.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

func (w *fixture) corpus() corpus.Corpus {
	w.t.Helper()
	all, err := w.corpora.Get(context.Background(), w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return all[0]
}

// put commits a document of the given number of parts; its own word is "word<name>".
func (w *fixture) put(name string, parts int) {
	w.t.Helper()
	c := w.corpus()
	if _, err := w.documents.Insert(context.Background(), c.No, c.Epoch, w.document(name, "word"+name, parts)); err != nil {
		w.t.Fatal(err)
	}
}

// document returns a document of the given number of parts with a word of its own.
func (w *fixture) document(name, word string, parts int) *document.Document {
	d := &document.Document{ID: name, Metadata: []byte(fmt.Sprintf(`{"n":%d}`, parts))}
	for i := range parts {
		v := make([]float32, 384)
		for j := range v {
			v[j] = float32(w.random.NormFloat64())
		}
		packed, err := vector.Pack(unit(v))
		if err != nil {
			w.t.Fatal(err)
		}
		d.Parts = append(d.Parts, document.Part{
			Ord: i, Text: word + " stands here", Lang: "eng", Metadata: []byte(`{"lang":"eng"}`), Gap: " ", Vector: packed,
		})
	}
	return d
}

func unit(v []float32) []float32 {
	n := 0.0
	for _, x := range v {
		n += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v
}

func (w *fixture) remove(name string) {
	w.t.Helper()
	if _, err := storetest.Remove(context.Background(), w.documents, w.corpus(), name); err != nil {
		w.t.Fatal(err)
	}
}

// found lists the documents that a search for the word shows, with their parts.
func (w *fixture) found(word string) string {
	w.t.Helper()
	found, err := w.set.Search(context.Background(), w.corpus(), search.Query{Phrases: [][]string{{word}}, PhrasesRequired: true, K: 10000})
	if err != nil {
		w.t.Fatal(err)
	}
	count := map[string]int{}
	for _, h := range found.Hits {
		count[h.ID]++
	}
	var out []string
	for name, n := range count {
		out = append(out, fmt.Sprintf("%s:%d", name, n))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (w *fixture) want(word, want string) {
	w.t.Helper()
	if got := w.found(word); got != want {
		w.t.Fatalf("search for %s shows %q, want %q\n%s", word, got, want, w.log)
	}
}

// TestFollows proves that a search shows every committed change, without anyone telling the replica.
func TestFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want("worda", "")
	w.put("a", 2)
	w.put("b", 1)
	w.want("worda", "a:2")
	w.want("stands", "a:2 b:1")
	w.remove("a")
	w.want("stands", "b:1")
	w.put("a", 3)
	w.want("stands", "a:3 b:1")
	if _, err := w.corpora.Reset(t.Context(), w.key); err != nil {
		t.Fatal(err)
	}
	w.want("stands", "")
	w.put("c", 1)
	w.want("stands", "c:1")
}

// TestRestart proves that a replica opened again shows the same, from files and from rows, and that changes made while
// it was closed appear.
func TestRestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 30 { // 3,000 parts: enough for files
		w.put(fmt.Sprintf("d%02d", i), 100)
	}
	w.remove("d03")
	before := w.found("stands")
	w.restart()
	if files := w.files(); len(files) == 0 {
		t.Fatal("closing left no segment file")
	}
	w.want("stands", before)
	if err := w.set.Close(); err != nil {
		t.Fatal(err)
	}
	w.put("late", 1)
	w.remove("d04")
	w.open()
	w.want("wordlate", "late:1")
	w.want("wordd04", "")
	w.want("wordd05", "d05:100")
}

func (w *fixture) files() []string {
	var all []string
	_ = filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".seg") {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// TestDamage proves that a damaged file is named in the log and rebuilt, whatever is wrong with it.
func TestDamage(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"flipped": func(path string) error {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			raw[len(raw)/2] ^= 1
			return os.WriteFile(path, raw, 0o600)
		},
		"cut":  func(path string) error { return os.Truncate(path, 1000) },
		"gone": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for i := range 25 {
				w.put(fmt.Sprintf("d%02d", i), 100)
			}
			before := w.found("stands")
			if err := w.set.Close(); err != nil {
				t.Fatal(err)
			}
			files := w.files()
			if len(files) == 0 {
				t.Fatal("no segment file to spoil")
			}
			if err := spoil(files[0]); err != nil {
				t.Fatal(err)
			}
			w.open()
			w.want("stands", before)
			if !strings.Contains(w.log.String(), "damaged") {
				t.Errorf("the log says nothing of the damage: %s", w.log)
			}
		})
	}
}

// TestRepair proves that of several files one that is damaged costs the reading of its own documents, and that searches
// then show everything, with what changed since.
func TestRepair(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.put(name, 2100)
		w.found("stands")
		w.restart() // a file each
	}
	files := w.files()
	if len(files) != 3 {
		t.Fatalf("files %v", files)
	}
	w.remove("a")
	w.put("d", 1)
	if err := os.Truncate(files[1], 1000); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w.want("stands", "b:2100 c:2100 d:1")
		w.restart()
	}
	if log := w.log.String(); strings.Contains(log, "damaged") {
		t.Errorf("it is still damaged: %s", log)
	}
}

// TestCutOffUnderUse proves that files that are cut off under a running service cost the reading of their own documents and no error,
// whether a search or a change finds it, one file or all.
func TestCutOffUnderUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.put(name, 2100)
		w.found("stands")
		w.restart() // a file each
	}
	w.want("stands", "a:2100 b:2100 c:2100")
	files := w.files()
	if len(files) != 3 {
		t.Fatalf("files %v", files)
	}
	if err := os.Truncate(files[1], 5000); err != nil {
		t.Fatal(err)
	}
	w.want("stands", "a:2100 b:2100 c:2100")
	if log := w.log.String(); !strings.Contains(log, "reading what it lost") || strings.Contains(log, "rebuilding") || !strings.Contains(log, filepath.Base(files[1])) {
		t.Errorf("log: %s", log)
	}
	now := w.files()
	if slices.Contains(now, files[1]) || !slices.Contains(now, files[0]) || !slices.Contains(now, files[2]) {
		t.Errorf("files %v of %v", now, files)
	}
	if err := os.Truncate(files[0], 5000); err != nil {
		t.Fatal(err)
	}
	w.remove("a") // the change reads what is cut off
	w.put("d", 1)
	w.want("stands", "b:2100 c:2100 d:1")
	for _, file := range w.files() {
		if err := os.Truncate(file, 100); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		w.want("stands", "b:2100 c:2100 d:1")
		w.restart()
	}
	if log := w.log.String(); strings.Contains(log, "damaged") {
		t.Errorf("it is still damaged: %s", log)
	}
}

// TestIndexAhead proves that an index that knows changes which the database does not, as after a restored backup, is
// thrown away.
func TestIndexAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", 1)
	w.put("b", 1)
	w.want("stands", "a:1 b:1")
	w.remove("b")
	w.want("stands", "a:1")
	real := w.documents
	older := restored{Store: w.corpora, seq: 1}
	set := replica.New(replica.Config{Dir: w.dir, Documents: real, Corpora: older, Encoders: w.encoders, Log: slog.New(slog.NewTextHandler(w.log, nil))})
	defer set.Close()
	c := w.corpus()
	if err := set.CatchUp(t.Context(), c); err != nil { // reaches change 3
		t.Fatal(err)
	}
	c.Seq = 1
	if err := set.CatchUp(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.log.String(), "ahead of the database") {
		t.Errorf("nothing was rebuilt: %s", w.log)
	}
}

// TestNotAhead proves that an index is not taken for that of a restored backup because its corpus is gone or can't be
// read: it would be rebuilt.
func TestNotAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", 1)
	old := w.corpus()
	w.put("b", 1)
	w.want("stands", "a:1 b:1")
	ended, end := context.WithCancel(t.Context())
	end()
	if err := w.set.CatchUp(ended, old); !errors.Is(err, context.Canceled) {
		t.Errorf("for nobody: %v", err)
	}
	if err := w.corpora.Delete(t.Context(), w.key); err != nil {
		t.Fatal(err)
	}
	if err := w.set.CatchUp(t.Context(), old); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("of a deleted corpus: %v", err)
	}
	if log := w.log.String(); strings.Contains(log, "ahead") {
		t.Error(log)
	}
}

// TestReconcile proves that index files that know more than the database, and files of corpora that are gone, are removed
// before anything is written, and that no other is.
func TestReconcile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", 2100) // enough to be worth a file
	w.want("worda", "a:2100")
	w.restart()
	gone := filepath.Join(w.dir, "77-abc")
	other := filepath.Join(w.dir, "of the user")
	for _, dir := range []string{gone, other} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	older := replica.New(replica.Config{Dir: w.dir, Documents: w.documents, Corpora: restored{w.corpora, 0}, Encoders: w.encoders, Log: slog.New(slog.NewTextHandler(w.log, nil))})
	for _, tc := range []struct {
		set  *replica.Set
		want int // folders that stay
	}{{w.set, 2}, {older, 1}, {older, 1}} {
		if _, err := tc.set.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(other); err != nil {
			t.Error("a folder that is not the index's was removed")
		}
		if all, err := os.ReadDir(w.dir); err != nil || len(all) != tc.want {
			t.Errorf("%d folders stay, want %d: %v %v", len(all), tc.want, all, err)
		}
	}
	w.want("worda", "a:2100")
	if _, err := replica.New(replica.Config{Dir: filepath.Join(w.dir, "none"), Corpora: w.corpora}).Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestBehind proves that those corpora are told to be far behind whose files lack more than 1,000 changes, the nearest first and no
// more than may be open, without a look at an index; and that they are brought up although others can't be, or are gone.
func TestBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", 2100) // enough to be worth a file, which has change 1
	w.want("worda", "a:2100")
	fresh, there := w.corpus(), w.corpus()
	fresh.ID, fresh.Key = id.NewCorpus(), "fresh"
	if _, err := w.corpora.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	w.restart()
	none := filepath.Join(w.dir, "none")
	for _, tc := range []struct {
		dir  string
		seq  int64
		open int
		want string
	}{
		{w.dir, 1, 0, ""}, {w.dir, 1000, 0, ""}, {w.dir, 1001, 0, "fresh"}, {w.dir, 1002, 0, "c fresh"}, {w.dir, 1002, 1, "fresh"},
		{none, 1000, 0, ""}, {none, 1001, 0, "fresh c"},
	} {
		set := replica.New(replica.Config{Dir: tc.dir, Corpora: restored{w.corpora, tc.seq}, MaxOpen: tc.open}) // has nothing to open one with
		behind, err := set.Reconcile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, c := range behind {
			keys = append(keys, c.Key)
		}
		if got := strings.Join(keys, " "); got != tc.want {
			t.Errorf("behind at change %d with %d open, files in %s: %q, want %q", tc.seq, tc.open, tc.dir, got, tc.want)
		}
	}
	gone, broken := fresh, fresh
	gone.Key = "gone"
	broken.ID, broken.Key, broken.EncoderName = id.NewCorpus(), "broken", "unknown"
	if _, err := w.corpora.Create(t.Context(), broken); err != nil {
		t.Fatal(err)
	}
	w.set.CatchUpAll(t.Context(), []corpus.Corpus{gone, broken, there})
	log := w.log.String()
	if !strings.Contains(log, "corpus=c index=1\n") || strings.Count(log, "corpus=broken error=") != 1 || strings.Count(log, "\n") != 2 {
		t.Errorf("want c brought up, broken told, and nothing else:\n%s", log)
	}
}

// restored answers with the sequence number of an older backup.
type restored struct {
	*corpora.Store
	seq int64
}

func (r restored) Get(ctx context.Context, keys ...string) ([]corpus.Corpus, error) {
	all, err := r.Store.Get(ctx, keys...)
	for i := range all {
		all[i].Seq = r.seq
	}
	return all, err
}

func (r restored) List(ctx context.Context, l corpus.List) ([]corpus.Corpus, bool, error) {
	since := l.Since
	l.Since = 0
	all, more, err := r.Store.List(ctx, l)
	for i := range all {
		all[i].Seq = r.seq
	}
	if r.seq < since {
		all = nil
	}
	return all, more, err
}

// TestConcurrent proves that writers and readers at once see each write at once, and that nothing is lost between them.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var group sync.WaitGroup
	var mu sync.Mutex // guards w.random in put
	for n := range 8 {
		group.Go(func() {
			for i := range 10 {
				name := fmt.Sprintf("w%dx%d", n, i)
				mu.Lock()
				w.put(name, 1)
				mu.Unlock()
				if got := w.found("word" + name); got != name+":1" {
					t.Errorf("after its commit %s is shown as %q", name, got)
				}
			}
		})
	}
	group.Wait()
	if got := len(strings.Fields(w.found("stands"))); got != 80 {
		t.Errorf("%d documents, want 80", got)
	}
}

// TestDropped proves that the files of a deleted corpus go with it, and that it shows nothing any more.
func TestDropped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 25 {
		w.put(fmt.Sprintf("d%02d", i), 100)
	}
	w.found("stands")
	w.restart()
	w.found("stands")
	c := w.corpus()
	if err := w.corpora.Delete(t.Context(), w.key); err != nil {
		t.Fatal(err)
	}
	w.set.Dropped(c)
	if files := w.files(); len(files) > 0 {
		t.Errorf("files remain: %v", files)
	}
	// Someone who read the corpus before it went may still ask.
	if found, err := w.set.Search(t.Context(), c, search.Query{Terms: []string{"stand"}, K: 10}); err == nil && len(found.Hits) > 0 {
		t.Errorf("a deleted corpus shows %d parts", len(found.Hits))
	}
}

// TestEviction proves that corpora beyond those that may be open are closed and opened again with everything that they
// had, however they are asked at once.
func TestEviction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := replica.New(replica.Config{
		Dir: w.dir, Documents: w.documents, Corpora: w.corpora, Encoders: w.encoders, Log: slog.New(slog.NewTextHandler(w.log, nil)), MaxOpen: 2,
	})
	var all []corpus.Corpus
	for i := range 5 {
		if i > 0 {
			w.key = fmt.Sprintf("c%d", i)
			if _, err := w.corpora.Create(t.Context(), corpus.Corpus{ID: id.NewCorpus(), Key: w.key, EncoderName: embed.DefaultName}); err != nil {
				t.Fatal(err)
			}
		}
		w.put("a", 2100*(i%2)+i+1) // every other one is worth files
		all = append(all, w.corpus())
	}
	var group sync.WaitGroup
	for n := range 4 {
		group.Go(func() {
			for i := range 30 {
				at := (i*7 + n) % len(all)
				found, err := set.Search(t.Context(), all[at], search.Query{Terms: []string{"stand"}, K: 10000})
				if want := 2100*(at%2) + at + 1; err != nil || len(found.Hits) != want {
					t.Errorf("corpus %d: %d parts, %v; want %d", at, len(found.Hits), err, want)
				}
			}
		})
	}
	group.Wait()
	if err := set.Close(); err != nil {
		t.Error(err)
	}
	if files := w.files(); len(files) != 2 {
		t.Errorf("files %v, want those of the two large ones", files)
	}
}

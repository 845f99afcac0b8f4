package folder_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/fault"
	"quarry/internal/folder"
	"quarry/internal/folder/source"
	"quarry/internal/folder/state"
)

// memory is a corpus in memory.
type memory struct {
	mu     sync.Mutex
	docs   map[string]string
	puts   []string                         // ids of documents that were sent and taken, with "!" where they replaced one
	before func(op string, id string) error // what a request fails with, nil for none
}

func newMemory() *memory { return &memory{docs: map[string]string{}} }

func (m *memory) fails(op, id string) error {
	if m.before == nil {
		return nil
	}
	return m.before(op, id)
}

func (m *memory) Documents(_ context.Context, fn func(id string)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.docs {
		fn(id)
	}
	return m.fails("list", "")
}

func (m *memory) Put(ctx context.Context, d folder.Document, replace bool) (folder.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.fails("put", d.ID); err != nil || ctx.Err() != nil {
		return folder.Stored{}, err
	}
	old, there := m.docs[d.ID]
	switch {
	case there && old == string(d.Data):
		return folder.Stored{Passages: 1}, nil
	case there && !replace:
		return folder.Stored{}, fault.Conflict("document_exists", "there is another document %s", d.ID)
	}
	m.docs[d.ID] = string(d.Data)
	mark := ""
	if there {
		mark = "!"
	}
	m.puts = append(m.puts, d.ID+mark)
	return folder.Stored{Passages: 1, Encoded: 1}, nil
}

func (m *memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.docs, id)
	return m.fails("delete", id)
}

// sent returns what was sent since the last call.
func (m *memory) sent() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Sorted(slices.Values(m.puts))
	m.puts = nil
	return out
}

// holds reports whether the documents are these.
func (m *memory) holds(docs map[string]string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Equal(m.docs, docs)
}

// bench is a folder, its corpus and what is remembered of them.
type bench struct {
	t      *testing.T
	dir    string
	cache  string
	id     string // of the corpus
	corpus *memory
	change func(*folder.Config)
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), cache: t.TempDir(), id: "crp_1", corpus: newMemory(), change: func(*folder.Config) {}}
	for name, text := range files {
		b.write(name, text)
	}
	return b
}

// ids returns the ids of the files, sorted.
func (b *bench) ids() []string {
	b.t.Helper()
	all, err := os.ReadDir(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, d := range all {
		out = append(out, d.Name())
	}
	return slices.Sorted(slices.Values(out))
}

// write writes a file, with a time long ago, so that its stamp proves its content.
func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.age(name, time.Hour)
}

func (b *bench) age(name string, by time.Duration) {
	b.t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(filepath.Join(b.dir, name), at, at); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	if err := os.Rename(filepath.Join(b.dir, from), filepath.Join(b.dir, to)); err != nil {
		b.t.Fatal(err)
	}
}

// open returns a Sync on the folder, as a run of the command has it.
func (b *bench) open() (*folder.Sync, func()) {
	b.t.Helper()
	roots, err := source.Resolve([]string{b.dir})
	if err != nil {
		b.t.Fatal(err)
	}
	j, err := state.Open(b.cache, state.Key{Service: "here", Corpus: "docs", Root: b.dir, CorpusID: b.id})
	if err != nil {
		b.t.Fatal(err)
	}
	c := folder.Config{Corpus: b.corpus, Roots: []folder.Root{{Root: roots[0], Journal: j}}, Parallel: 2, Settings: "chars=900"}
	b.change(&c)
	return folder.NewSync(c), func() {
		if err := j.Close(); err != nil {
			b.t.Error(err)
		}
	}
}

func (b *bench) run() (folder.Result, error) {
	b.t.Helper()
	s, closing := b.open()
	defer closing()
	return s.Pass(b.t.Context())
}

// sums is what a pass says at its end.
func sums(r folder.Result) string {
	return fmt.Sprintf("%d new, %d changed, %d unchanged, %d gone, %d removed, %d failed", r.New, r.Changed, r.Unchanged, r.Gone, r.Removed, r.Failed)
}

func (b *bench) want(want string, sent ...string) {
	b.t.Helper()
	r, err := b.run()
	if err != nil || sums(r) != want {
		b.t.Errorf("got %s (%v), want %s; %v", sums(r), err, want, r.Failures)
	}
	if got := b.corpus.sent(); !slices.Equal(got, sent) {
		b.t.Errorf("sent %v, want %v", got, sent)
	}
}

// TestPlan proves what a second run does after each kind of change of files, corpus and settings.
func TestPlan(t *testing.T) {
	t.Parallel()
	sync := func(c *folder.Config) { c.Remove = true }
	for name, tc := range map[string]struct {
		change func(b *bench)
		want   string
		sent   []string
	}{
		"nothing":              {func(*bench) {}, "0 new, 0 changed, 3 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"a new file":           {func(b *bench) { b.write("d/new.md", "n") }, "1 new, 0 changed, 3 unchanged, 0 gone, 0 removed, 0 failed", []string{"d/new.md"}},
		"another content":      {func(b *bench) { b.write("a.md", "A2") }, "0 new, 1 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md!"}},
		"as long as before":    {func(b *bench) { b.write("a.md", "Z") }, "0 new, 1 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md!"}},
		"touched":              {func(b *bench) { b.age("a.md", time.Minute) }, "0 new, 0 changed, 3 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"renamed":              {func(b *bench) { b.rename("a.md", "z.md") }, "1 new, 0 changed, 2 unchanged, 1 gone, 0 removed, 0 failed", []string{"z.md"}},
		"renamed, with sync":   {func(b *bench) { b.rename("a.md", "z.md"); b.change = sync }, "1 new, 0 changed, 2 unchanged, 0 gone, 1 removed, 0 failed", []string{"z.md"}},
		"swapped":              {func(b *bench) { b.rename("a.md", "x"); b.rename("b.md", "a.md"); b.rename("x", "b.md") }, "0 new, 2 changed, 1 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md!", "b.md!"}},
		"removed":              {func(b *bench) { b.remove("a.md") }, "0 new, 0 changed, 2 unchanged, 1 gone, 0 removed, 0 failed", nil},
		"removed, with sync":   {func(b *bench) { b.remove("a.md"); b.change = sync }, "0 new, 0 changed, 2 unchanged, 0 gone, 1 removed, 0 failed", nil},
		"removed by others":    {func(b *bench) { delete(b.corpus.docs, "a.md") }, "1 new, 0 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md"}},
		"removed everywhere":   {func(b *bench) { b.remove("a.md"); delete(b.corpus.docs, "a.md") }, "0 new, 0 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"a document of others": {func(b *bench) { b.corpus.docs["theirs"] = "t"; b.change = sync }, "0 new, 0 changed, 3 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"other settings":       {func(b *bench) { b.change = func(c *folder.Config) { c.Settings = "chars=300" } }, "0 new, 3 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"the state is lost":    {func(b *bench) { b.cache = b.t.TempDir() }, "0 new, 0 changed, 3 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"lost, and changed":    {func(b *bench) { b.cache = b.t.TempDir(); b.write("a.md", "A2") }, "0 new, 1 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md!"}},
		"lost, and removed":    {func(b *bench) { b.cache = b.t.TempDir(); b.remove("a.md"); b.change = sync }, "0 new, 0 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", nil},
		"another corpus":       {func(b *bench) { b.id = "crp_2"; clear(b.corpus.docs) }, "3 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", []string{"a.md", "b.md", "c.md"}},
		"left out by a flag": {
			func(b *bench) {
				b.change = func(c *folder.Config) { c.Remove, c.Find.Exclude = true, []string{"a.md"} }
			},
			"0 new, 0 changed, 2 unchanged, 0 gone, 0 removed, 0 failed", nil,
		},
		"ignored": {
			func(b *bench) { b.write(".quarryignore", "a.md"); b.change = sync },
			"0 new, 0 changed, 2 unchanged, 0 gone, 1 removed, 0 failed", nil,
		},
		"a dry run": {
			func(b *bench) {
				b.write("new.md", "n")
				b.write("a.md", "A2")
				b.remove("b.md")
				b.change = func(c *folder.Config) { c.Remove, c.DryRun = true, true }
			},
			"1 new, 1 changed, 1 unchanged, 1 gone, 0 removed, 0 failed", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, map[string]string{"a.md": "A", "b.md": "B", "c.md": "C"})
			b.want("3 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", "a.md", "b.md", "c.md")
			tc.change(b)
			b.want(tc.want, tc.sent...)
			if b.corpus.docs["theirs"] == "" && name == "a document of others" {
				t.Error("a document of others was removed")
			}
		})
	}
}

// TestKilled proves that after a run that ended between sending and remembering, the next one knows every document that
// it made, and none of others.
func TestKilled(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.md": "A", "b.md": "B", "taken.md": "ours"})
	b.corpus.docs["taken.md"] = "theirs"
	b.change = func(c *folder.Config) { c.Parallel = 1 }
	for _, at := range []string{"b.md", "taken.md"} {
		ctx, kill := context.WithCancel(t.Context())
		b.corpus.before = func(op, id string) error {
			if op == "put" && id == at {
				kill() // the request is on its way
				return context.Canceled
			}
			return nil
		}
		s, closing := b.open()
		if _, err := s.Pass(ctx); err == nil {
			t.Fatal("a pass that was stopped is no error")
		}
		closing()
		b.corpus.docs["b.md"] = "B" // it arrived
	}
	b.corpus.before = nil
	for _, name := range []string{"a.md", "b.md", "taken.md"} {
		b.remove(name)
	}
	b.write("other.md", "O")
	b.change = func(c *folder.Config) { c.Remove = true }
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"taken.md": "theirs", "other.md": "O"}
	if d := cmp.Diff(want, b.corpus.docs); d != "" {
		t.Error(d)
	}
}

// TestRefused proves that a file that the service refuses is one failure, is sent again by the next run, and keeps the
// document that was made of it before.
func TestRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.md": "A", "b.md": "B"})
	b.want("2 new, 0 changed, 0 unchanged, 0 gone, 0 removed, 0 failed", "a.md", "b.md")
	b.write("a.md", "bad")
	b.corpus.before = func(_, id string) error {
		if id == "a.md" {
			return fault.Invalid().Field("file", "has no text")
		}
		return nil
	}
	for range 2 {
		b.want("0 new, 0 changed, 1 unchanged, 0 gone, 0 removed, 1 failed")
	}
	b.corpus.before = nil
	b.want("0 new, 1 changed, 1 unchanged, 0 gone, 0 removed, 0 failed", "a.md!")
	b.remove("a.md")
	b.want("0 new, 0 changed, 1 unchanged, 1 gone, 0 removed, 0 failed")
}

// TestRecent proves that a file that was changed in the moment of being read is read again, though nothing about it
// has changed since that can be seen.
func TestRecent(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.md": "A"})
	at := time.Now().Add(time.Hour) // as the clock of a file server that is ahead has it
	if err := os.Chtimes(filepath.Join(b.dir, "a.md"), at, at); err != nil {
		t.Fatal(err)
	}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	j, err := state.Open(b.cache, state.Key{Service: "here", Corpus: "docs", Root: b.dir, CorpusID: b.id})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if e, _ := j.Get("a.md"); !e.Recent {
		t.Errorf("%+v", e)
	}
}

// TestTwoRoots proves that a document whose file moved from one root to another under the same id stays.
func TestTwoRoots(t *testing.T) {
	t.Parallel()
	one, two := newBench(t, map[string]string{"a.md": "A"}), newBench(t, map[string]string{"b.md": "B"})
	s := func() folder.Result {
		t.Helper()
		var all []folder.Root
		for _, b := range []*bench{one, two} {
			roots, err := source.Resolve([]string{b.dir})
			if err != nil {
				t.Fatal(err)
			}
			j, err := state.Open(b.cache, state.Key{CorpusID: "crp_1"})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = j.Close() }()
			all = append(all, folder.Root{Root: roots[0], Journal: j})
		}
		r, err := folder.NewSync(folder.Config{Corpus: one.corpus, Roots: all, Remove: true}).Pass(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	s()
	one.remove("a.md")
	two.write("a.md", "A")
	s()
	s()
	if got := slices.Sorted(maps.Keys(one.corpus.docs)); !slices.Equal(got, []string{"a.md", "b.md"}) {
		t.Error(got)
	}
	two.remove("a.md")
	if r := s(); r.Removed != 1 || len(one.corpus.docs) != 1 {
		t.Errorf("%s: %v", sums(r), one.corpus.docs)
	}
}

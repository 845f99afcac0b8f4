package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/replica"
	"quarry/internal/fault"
	"quarry/internal/search"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
)

const length = 40 // parts of each document

// scanned calls during before each page of a pass over all documents, with the number of the page in all passes.
type scanned struct {
	*documents.Store
	pages  atomic.Int64
	during func(page int64) error
}

func (s *scanned) Scan(ctx context.Context, corpusNo, after int64, limit int) ([]document.Document, int64, int64, error) {
	if page := s.pages.Add(1); s.during != nil {
		if err := s.during(page); err != nil {
			return nil, 0, 0, err
		}
	}
	return s.Store.Scan(ctx, corpusNo, after, limit)
}

// building is a fixture with enough documents for files of their own, and with a number of its index that can be raised.
type building struct {
	*fixture
	rows *scanned
}

func newBuilding(t *testing.T) *building {
	w := newWorld(t)
	b := &building{w, &scanned{Store: w.documents}}
	for i := range 70 { // two pages
		b.put(fmt.Sprintf("d%02d", i), length)
	}
	b.found("stands")
	b.restart()
	return b
}

// set returns replicas over a folder of the fixture, closed at the end of the test.
func (b *building) over(dir string, all corpus.Store) *replica.Set {
	s := replica.New(replica.Config{Dir: dir, Documents: b.rows, Corpora: all, Encoders: b.encoders, Log: slog.New(slog.NewTextHandler(b.log, nil))})
	b.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return s
}

// restart starts over with replicas whose passes over all documents are counted.
func (b *building) restart() {
	b.t.Helper()
	if err := b.set.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.log = &bytes.Buffer{}
	b.set = b.over(b.dir, b.corpora)
}

// raise asks for the next build of the index.
func (b *building) raise() corpus.Corpus {
	b.t.Helper()
	c := b.corpus()
	c, err := b.corpora.RaiseIndexBuild(context.Background(), c.No, c.IndexBuild+1)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// folders lists the folders that have segment files, below that of the corpus.
func (b *building) folders() string {
	var out []string
	for _, f := range b.files() {
		rel, err := filepath.Rel(b.dir, filepath.Dir(f))
		if err != nil {
			b.t.Fatal(err)
		}
		_, below, _ := strings.Cut(rel, string(filepath.Separator))
		out = append(out, below)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// state returns what a look at the index of a set shows of it.
func (b *building) state(s *replica.Set) replica.State {
	b.t.Helper()
	got, err := s.Look(context.Background(), b.corpus())
	if err != nil {
		b.t.Fatal(err)
	}
	return got.State
}

// TestRebuild proves that the old index answers and shows each change while another is built beside it, that the new one
// then has all of them, and that its files alone remain and are opened again.
func TestRebuild(t *testing.T) {
	t.Parallel()
	b := newBuilding(t)
	if got := b.folders(); got != "" {
		t.Fatalf("files in %q, want them where they lay before there were builds", got)
	}
	c := b.raise()
	const changes = 3
	b.rows.during = func(page int64) error {
		if page > changes { // each adds a document, so that there is another page
			return nil
		}
		name := fmt.Sprint("during", page)
		b.put(name, 1)
		b.remove(fmt.Sprintf("d%02d", page))
		b.remove(fmt.Sprintf("d%d", 69-page))
		b.want("word"+name, name+":1")
		b.want(fmt.Sprintf("wordd%02d", page), "")
		if got := b.state(b.set); got != replica.Rebuilding {
			t.Errorf("page %d: %s", page, got)
		}
		return nil
	}
	if err := b.set.Rebuild(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	pages := b.rows.pages.Load()
	b.rows.during = nil
	look, err := b.set.Look(t.Context(), b.corpus())
	if want := (70-2*changes)*length + changes; err != nil || look.Live != want || look.State != replica.Resting || look.Applied != look.Sequence {
		t.Errorf("%+v, %v; want %d parts", look, err, want)
	}
	before := b.found("stands")
	if n := len(strings.Fields(before)); n != 70-changes || pages <= changes {
		t.Errorf("%d documents after %d pages", n, pages)
	}
	if got := b.folders(); got != "build-1" {
		t.Errorf("files in %q", got)
	}
	b.restart()
	b.want("stands", before)
	if err := b.set.Rebuild(t.Context(), c); err != nil { // it is of that build
		t.Error(err)
	}
	if got := b.rows.pages.Load(); got != pages {
		t.Errorf("it was read anew: %d pages after %d", got, pages)
	}
	if err := b.set.Rebuild(t.Context(), b.raise()); err != nil {
		t.Fatal(err)
	}
	b.want("stands", before)
	if got := b.folders(); got != "build-2" {
		t.Errorf("files in %q", got)
	}
}

// TestRebuildLater proves that a node whose files are of a lower build makes its index anew once it sees the number, without
// anyone telling it, while its old one answers; and that it begins again when it was stopped.
func TestRebuildLater(t *testing.T) {
	t.Parallel()
	b := newBuilding(t)
	before := b.found("stands")
	c := b.raise()
	begun, on := make(chan struct{}), make(chan struct{})
	b.rows.during = func(page int64) error {
		if page == 1 {
			close(begun)
			<-on
			return errors.New("the service stops")
		}
		return nil
	}
	b.want("stands", before)
	<-begun
	b.want("stands", before)
	if got := b.state(b.set); got != replica.Rebuilding {
		t.Error(got)
	}
	close(on)
	b.restart() // waits for it
	if got := b.folders(); got != "" {
		t.Errorf("after the first attempt files in %q", got)
	}
	b.want("stands", before)
	pages := b.rows.pages.Load()
	if err := b.set.Rebuild(t.Context(), c); err != nil { // waits for what the search began
		t.Fatal(err)
	}
	if pages == 1 {
		pages = b.rows.pages.Load() // the search was answered before the pass began
	}
	if got := b.rows.pages.Load(); got > 4 || pages < 2 {
		t.Errorf("%d pages, want those of one pass behind the first attempt", got)
	}
	b.want("stands", before)
	if got := b.folders(); got != "build-1" {
		t.Errorf("files in %q", got)
	}
}

// TestRebuildKilled proves that a build is merged before searches are switched to it; that what a process that died has left of
// one is not used, that the old index serves, and that the build is made from the beginning.
func TestRebuildKilled(t *testing.T) {
	t.Parallel()
	b := newBuilding(t)
	for i := range 2 * 64 { // a build writes a file behind each page of documents
		b.put(fmt.Sprint("long", i), 1+i%8/7*2100)
	}
	before := b.found("stands")
	b.restart()
	c, left := b.raise(), filepath.Join(t.TempDir(), "index")
	b.rows.during = func(page int64) error {
		if page == 3 {
			return os.CopyFS(left, os.DirFS(b.dir)) // as a kill leaves it
		}
		return nil
	}
	if err := b.set.Rebuild(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	look, err := b.set.Look(t.Context(), c)
	if err != nil || look.Segments != 1 || look.State != replica.Resting {
		t.Errorf("searches were switched to an index that is not merged: %+v, %v", look, err)
	}
	b.rows.during, b.dir = nil, left
	if got := b.folders(); got != " build-1" {
		t.Fatalf("files in %q, want those of both", got)
	}
	b.restart()
	behind, err := b.set.Reconcile(t.Context())
	if err != nil || len(behind) != 0 {
		t.Errorf("%v, %v", behind, err)
	}
	look, err = b.set.Look(t.Context(), c)
	if err != nil || look.Applied == 0 || look.State != replica.Rebuilding {
		t.Errorf("it does not serve the old one: %+v, %v", look, err)
	}
	b.want("stands", before)
	if err := b.set.Rebuild(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	b.want("stands", before)
	if got := b.folders(); got != "build-1" {
		t.Errorf("files in %q", got)
	}
}

// TestRebuildFails proves that the old index serves on, and nothing lies beside it, when rows can't be read; and that a
// corpus that is deleted or reset meanwhile leaves no files of its old life.
func TestRebuildFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for name, tc := range map[string]struct {
		during func(b *building) error
		fails  func(error) bool
		want   string
	}{
		"rows": {func(*building) error { return broken }, func(err error) bool { return errors.Is(err, broken) }, ""},
		"deleted": {func(b *building) error {
			c := b.corpus()
			if err := b.corpora.Delete(context.Background(), b.key); err != nil {
				return err
			}
			b.set.Dropped(c)
			return nil
		}, func(err error) bool { return err != nil }, "none"},
		"reset": {func(b *building) error {
			c := b.corpus()
			if _, err := b.corpora.Reset(context.Background(), b.key); err != nil {
				return err
			}
			b.set.Dropped(c)
			return nil
		}, func(err error) bool { f, ok := fault.As(err); return ok && f.Code == "corpus_changed" }, "none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBuilding(t)
			before := b.found("stands")
			c := b.raise()
			b.rows.during = func(page int64) error {
				if page == 2 {
					return tc.during(b)
				}
				return nil
			}
			if err := b.set.Rebuild(t.Context(), c); !tc.fails(err) {
				t.Errorf("%v", err)
			}
			b.rows.during = nil
			if tc.want == "none" {
				if all, err := os.ReadDir(b.dir); err != nil || len(all) > 0 {
					t.Errorf("files remain: %v, %v", all, err)
				}
				return
			}
			if got := b.folders(); got != "" {
				t.Errorf("files in %q", got)
			}
			if err := b.set.Rebuild(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			b.want("stands", before)
		})
	}
}

// lowered returns every corpus as a backup has it that was made before its index was made anew.
type lowered struct{ *corpora.Store }

func (l lowered) Get(ctx context.Context, keys ...string) ([]corpus.Corpus, error) {
	all, err := l.Store.Get(ctx, keys...)
	for i := range all {
		all[i].IndexBuild = 0
	}
	return all, err
}

// TestRebuildRestored proves that files of a build which the database does not know are not used: a later build gets that
// number.
func TestRebuildRestored(t *testing.T) {
	t.Parallel()
	b := newBuilding(t)
	before := b.found("stands")
	if err := b.set.Rebuild(t.Context(), b.raise()); err != nil {
		t.Fatal(err)
	}
	b.restart()
	older := lowered{b.corpora}
	c, err := corpus.Find(t.Context(), older, b.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.set.Close(); err != nil {
		t.Fatal(err)
	}
	set := b.over(b.dir, older)
	pages := b.rows.pages.Load()
	found, err := set.Search(t.Context(), c, search.Query{Terms: []string{"stand"}, K: 10000})
	if err != nil || len(found.Hits) != 70*length || b.rows.pages.Load() == pages {
		t.Errorf("%d hits, %v; read anew: %t", len(found.Hits), err, b.rows.pages.Load() > pages)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if got := b.folders(); got != "" {
		t.Errorf("files in %q", got)
	}
	b.set = b.over(b.dir, b.corpora)
	b.want("stands", before)
}

// TestRebuildAndRetype proves that other attributes that come while an index is made anew are those of the new one, and
// that their columns, when the index is exchanged under them, are asked for again.
func TestRebuildAndRetype(t *testing.T) {
	t.Parallel()
	b := newBuilding(t)
	retype := func(c corpus.Corpus) error {
		next := c
		next.SchemaVersion++
		next.Attributes = attributes(next.SchemaVersion)
		return b.set.Retype(context.Background(), next, func() (corpus.Corpus, error) {
			return b.corpora.ReplaceAttributes(context.Background(), c.No, next.Attributes, next.SchemaVersion)
		})
	}
	x := &turning{fixture: b.fixture}
	count := func(text string) int {
		x.set = b.set
		n, err := x.count(b.corpus(), text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	inside := false
	other := func(do func() error) func(int64) error {
		return func(int64) error {
			if inside {
				return nil
			}
			inside = true
			return do()
		}
	}
	b.rows.during = other(func() error { return retype(b.corpus()) })
	if err := b.set.Rebuild(t.Context(), b.raise()); err != nil {
		t.Fatal(err)
	}
	if got := count("doc.n > 39.5 AND doc.size IS NULL"); got != 70*length {
		t.Errorf("by the new attributes %d parts", got)
	}
	inside = false
	b.rows.during = other(func() error { return b.set.Rebuild(context.Background(), b.raise()) })
	err := retype(b.corpus())
	if f, ok := fault.As(err); !ok || f.Code != "corpus_changed" {
		t.Errorf("under a retyping the index was exchanged, and it says %v", err)
	}
	b.rows.during = nil
	if got := count("doc.n > 39.5"); got != 70*length {
		t.Errorf("by the attributes as they were %d parts", got)
	}
	if err := retype(b.corpus()); err != nil {
		t.Error(err)
	}
	if got := count("doc.n = 40"); got != 70*length {
		t.Errorf("by the third attributes %d parts", got)
	}
}

package replica_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/corpus/replica"
	"quarry/internal/search"
	"quarry/internal/store/corpora"
)

// switched returns every corpus other attributes from the moment that version is not 0.
type switched struct {
	*corpora.Store
	version *atomic.Int64
}

// attributes are those of a version: the type of n changes, and a second one comes and goes.
func attributes(version int64) []corpus.Attribute {
	if version%2 == 0 {
		return []corpus.Attribute{{Name: "n", Level: "document", Type: "integer", Indexed: true}}
	}
	return []corpus.Attribute{{Name: "size", Level: "document", Type: "text", Indexed: true}, {Name: "n", Level: "document", Type: "real_number", Indexed: true}}
}

func (s switched) Get(ctx context.Context, keys ...string) ([]corpus.Corpus, error) {
	version := s.version.Load()
	all, err := s.Store.Get(ctx, keys...)
	for i := range all {
		all[i].SchemaVersion, all[i].Attributes = version, attributes(version)
	}
	return all, err
}

// turning is a fixture whose corpus can get other attributes.
type turning struct {
	*fixture
	store switched
	set   *replica.Set
}

func newTurning(t *testing.T) *turning {
	w := newWorld(t)
	x := &turning{fixture: w, store: switched{w.corpora, &atomic.Int64{}}}
	x.open()
	t.Cleanup(func() {
		if err := x.set.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func (x *turning) open() {
	x.set = replica.New(replica.Config{Dir: x.dir, Documents: x.documents, Corpora: x.store, Encoders: x.encoders,
		Log: slog.New(slog.NewTextHandler(x.log, nil))})
}

func (x *turning) corpus() corpus.Corpus {
	all, err := x.store.Get(context.Background(), x.key)
	if err != nil {
		x.t.Fatal(err)
	}
	return all[0]
}

// count returns the parts that pass a filter for the attributes of c.
func (x *turning) count(c corpus.Corpus, text string) (int, error) {
	found, err := x.set.Search(context.Background(), c, search.Query{Terms: []string{"stand"}, Filter: text, K: 10000})
	return len(found.Hits), err
}

func (x *turning) wants(text string, want int) {
	x.t.Helper()
	if got, err := x.count(x.corpus(), text); err != nil || got != want {
		x.t.Fatalf("%s: %d parts, %v; want %d\n%s", text, got, err, want, x.log)
	}
}

// amend sets metadata of documents.
func (x *turning) amend(given string, names ...string) {
	x.t.Helper()
	var edits []document.Edit
	c := x.corpus()
	a, err := metadata.NewAmendment(c, []byte(given), false)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, n := range names {
		edits = append(edits, document.Edit{ID: n, Amendment: a})
	}
	if _, err := x.documents.Amend(context.Background(), c.No, c.Epoch, edits); err != nil {
		x.t.Fatal(err)
	}
}

// TestUpdates proves that searches show amended metadata at once, however many documents have it, and after a restart,
// and that an update of a document that is gone again is none.
func TestUpdates(t *testing.T) {
	t.Parallel()
	x := newTurning(t)
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("d%02d", i))
		x.put(names[i], 100)
	}
	x.wants("doc.n = 100", 3000)
	x.amend(`{"n":7}`, names[:5]...)
	x.wants("doc.n = 7", 500)
	x.amend(`{}`, names[3:8]...)
	x.wants("doc.n IS NULL", 500)
	x.amend(`{"n":8}`, names[0])
	x.remove(names[0])
	x.put(names[0], 2)
	x.amend(`{"n":9}`, names[0], names[1])
	x.wants("doc.n = 9", 102)
	for range 2 {
		x.wants("doc.n = 7", 100)
		x.wants("doc.n = 100", 2200)
		if err := x.set.Close(); err != nil {
			t.Fatal(err)
		}
		if len(x.files()) == 0 {
			t.Fatal("no files")
		}
		x.amend(`{"n":100,"again":true}`, names[9]) // while it is closed
		x.open()
	}
	if log := x.log.String(); strings.Contains(log, "rebuild") {
		t.Error(log)
	}
}

// TestRetype proves that other attributes are in force from commit on and not before, that what is written meanwhile has
// them too, that searches for the old ones say so, and that nothing happens when commit fails.
func TestRetype(t *testing.T) {
	t.Parallel()
	for _, parts := range []int{3, 100} { // in memory, and in files
		x := newTurning(t)
		for i := range 30 {
			x.put(fmt.Sprintf("d%02d", i), parts)
		}
		x.wants("doc.n = "+fmt.Sprint(parts), 30*parts)
		if parts == 100 {
			if err := x.set.Close(); err != nil {
				t.Fatal(err)
			}
			x.open()
		}
		old := x.corpus()
		next := old
		next.Attributes, next.SchemaVersion = attributes(1), 1
		failure := errors.New("no")
		if err := x.set.Retype(t.Context(), next, func() (corpus.Corpus, error) { return old, failure }); !errors.Is(err, failure) {
			t.Fatalf("a commit that fails: %v", err)
		}
		x.wants("doc.n = "+fmt.Sprint(parts), 30*parts)
		err := x.set.Retype(t.Context(), next, func() (corpus.Corpus, error) {
			if n, err := x.count(old, "doc.n > 0"); err != nil || n != 30*parts {
				t.Errorf("before commit: %d parts, %v", n, err)
			}
			x.store.version.Store(1)
			x.put("late", 1)
			return x.corpus(), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.count(old, "doc.n > 0"); !errors.Is(err, search.ErrSchema) {
			t.Errorf("the old attributes afterwards: %v", err)
		}
		x.amend(`{"n":0.5,"size":"xl"}`, "d00", "d01")
		for range 2 {
			x.wants("doc.n < 1", 2*parts)
			x.wants("doc.size = 'xl'", 2*parts)
			x.wants("doc.n = 1", 1)
			if err := x.set.Close(); err != nil {
				t.Fatal(err)
			}
			x.open()
		}
		if log := x.log.String(); strings.Contains(log, "rebuild") || parts == 100 && strings.Contains(log, "making their columns") {
			t.Error(log)
		}
	}
}

// TestRetypeElsewhere proves that a replica that hears of other attributes only from the row, on another node or after a
// crash between commit and swap, makes their columns without reading texts again.
func TestRetypeElsewhere(t *testing.T) {
	t.Parallel()
	x := newTurning(t)
	for i := range 30 {
		x.put(fmt.Sprintf("d%02d", i), 100)
	}
	old := x.corpus()
	x.wants("doc.n = 100", 3000)
	x.store.version.Store(1)
	x.put("late", 1)
	x.wants("doc.n < 100.5 AND doc.n > 99.5", 3000) // running
	x.wants("doc.n = 1", 1)
	if err := x.set.Close(); err != nil {
		t.Fatal(err)
	}
	x.store.version.Store(2)
	x.amend(`{"n":5}`, "d07")
	x.open()
	if _, err := x.count(old, "doc.n = 5"); !errors.Is(err, search.ErrSchema) { // asked first by one who knows less
		t.Errorf("the first version: %v", err)
	}
	x.wants("doc.n = 5", 100)
	x.wants("doc.n = 100", 2900)
	if log := x.log.String(); strings.Contains(log, "rebuild") || strings.Count(log, "making their columns") != 2 {
		t.Error(log)
	}
}

// TestRetypeBesideWrites proves that writes and searches go on while attributes change to and fro, and that every one of
// them is in the end as the rows say.
func TestRetypeBesideWrites(t *testing.T) {
	t.Parallel()
	x := newTurning(t)
	for i := range 40 {
		x.put(fmt.Sprintf("d%02d", i), 5)
	}
	for i := range 10 {
		x.put(fmt.Sprintf("f%d", i), 5)
	}
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for i := range 60 {
			x.amend(fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf("d%02d", i%40), "d03")
			x.put(fmt.Sprintf("e%02d", i), 1)
			x.remove(fmt.Sprintf("e%02d", i))
			x.replace(fmt.Sprintf("f%d", i%10), fmt.Sprint("edition", i), 5)
		}
		close(done)
	})
	group.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if n, err := x.count(x.corpus(), "doc.n >= 0"); err == nil && (n < 250 || n > 251) || err != nil && !errors.Is(err, search.ErrSchema) {
				t.Errorf("%d parts, %v", n, err)
			}
		}
	})
	for range 6 {
		next := x.corpus()
		next.SchemaVersion++
		next.Attributes = attributes(next.SchemaVersion)
		if err := x.set.Retype(t.Context(), next, func() (corpus.Corpus, error) {
			x.store.version.Store(next.SchemaVersion)
			return x.corpus(), nil
		}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	x.wants("doc.n = 59", 10)
	x.wants("doc.n IN (0, 1, 2, 4)", 0)
	x.wants("doc.n >= 0", 250)
}

// TestRetypeAfterReset proves that attributes can be replaced where the replica is still of the corpus's life before a
// reset on another node.
func TestRetypeAfterReset(t *testing.T) {
	t.Parallel()
	x := newTurning(t)
	x.put("old", 3)
	x.wants("doc.n = 3", 3)
	if _, err := x.corpora.Reset(t.Context(), x.key); err != nil {
		t.Fatal(err)
	}
	x.put("new", 2)
	next := x.corpus()
	next.SchemaVersion, next.Attributes = 1, attributes(1)
	if err := x.set.Retype(t.Context(), next, func() (corpus.Corpus, error) {
		x.store.version.Store(1)
		return x.corpus(), nil
	}); err != nil {
		t.Fatal(err)
	}
	x.wants("doc.n > 1.5", 2)
}

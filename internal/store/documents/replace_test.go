package documents_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
	"quarry/internal/testkit"
)

// TestReplacing holds Replace and Kin to the comments of document.Store.
func TestReplacing(t *testing.T) {
	t.Parallel()
	open := func(_ *testing.T, db *store.DB) storetest.Stores {
		return storetest.Stores{Corpora: corpora.New(db), Documents: documents.New(db)}
	}
	storetest.Each(t, open, map[string]func(*testing.T, storetest.Stores){
		"replace": testReplace, "passages": testReplacedPassages, "refused": testReplaceRefused, "kin": testKin,
		"at once": testReplaceAtOnce, "and remove": testReplaceAndRemove, "delete many": testDeleteManyReplaced,
	})
}

func create(t *testing.T, s storetest.Stores, key string) corpus.Corpus {
	t.Helper()
	c, err := s.Corpora.Create(t.Context(), storetest.Corpus(key))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func get(t *testing.T, s storetest.Stores, key string) corpus.Corpus {
	t.Helper()
	all, err := s.Corpora.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

func insert(t *testing.T, s storetest.Stores, c corpus.Corpus, d *document.Document) {
	t.Helper()
	if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
		t.Fatal(err)
	}
}

// version returns a document whose head and parts all carry a mark, which also sets the number of parts.
func version(docID string, mark int) *document.Document {
	d := storetest.Document(docID, 1+mark%5)
	d.Title, d.Digest = fmt.Sprint("version ", mark), fmt.Sprint("digest ", mark)
	d.Metadata = fmt.Appendf(nil, `{"version":%d}`, mark)
	for i := range d.Parts {
		d.Parts[i].Text = d.Title
	}
	d.Images[0].Data = []byte(d.Title)
	return d
}

// whole returns what is not of one version in a document as it was read.
func whole(d *document.Document) error {
	var mark int
	if _, err := fmt.Sscanf(d.Title, "version %d", &mark); err != nil {
		return fmt.Errorf("title %q: %w", d.Title, err)
	}
	if want := fmt.Sprintf(`{"version":%d`, mark); !strings.HasPrefix(string(d.Metadata), want) {
		return fmt.Errorf("%s has the metadata %s", d.Title, d.Metadata)
	}
	if len(d.Parts) != 1+mark%5 {
		return fmt.Errorf("%s has %d parts", d.Title, len(d.Parts))
	}
	for _, p := range d.Parts {
		if p.Text != d.Title {
			return fmt.Errorf("%s has a part of %s", d.Title, p.Text)
		}
	}
	return nil
}

// testReplace proves that Replace creates where there is nothing, and else puts one document in the place of another:
// one change, exact usage, the time of creation kept, and the old one out of every list.
func testReplace(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	first := version("d", 1)
	if seq, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, first); err != nil || seq != 1 {
		t.Fatalf("Replace of nothing = %d, %v; want 1", seq, err)
	}
	insert(t, s, c, storetest.Document("other", 2))
	second := version("d", 9)
	seq, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, second)
	if err != nil || seq != 3 {
		t.Fatalf("Replace = %d, %v; want 3", seq, err)
	}
	if second.No <= first.No || !second.Created.Equal(first.Created) || !second.Updated.After(first.Updated) {
		t.Errorf("number %d after %d, created %v and %v, updated %v and %v", second.No, first.No, second.Created, first.Created, second.Updated, first.Updated)
	}
	second.Images[0].Data = nil // Get reads images without their bytes
	for _, parts := range []bool{false, true} {
		got, err := s.Documents.Get(t.Context(), c.No, "d", parts)
		want := *second
		if want.Parts = nil; parts {
			want.Parts = unencoded(second.Parts)
		}
		if diff := gocmp.Diff(want, *got); diff != "" || err != nil {
			t.Errorf("Get with parts %v: %v (-want +got): %s", parts, err, diff)
		}
	}
	if m, err := s.Documents.Image(t.Context(), c.No, "d", "i1"); err != nil || string(m.Data) != second.Title {
		t.Errorf("image %q, %v; want the new one's", m.Data, err)
	}
	if all, err := s.Documents.List(t.Context(), c.No, document.List{Limit: 9}); err != nil || len(all) != 2 || all[0].No != second.No {
		t.Errorf("List: %d documents, %v; want 2, the new one first", len(all), err)
	}
	if all, err := s.Documents.Load(t.Context(), c.No, []int64{first.No, second.No}); err != nil || len(all) != 1 || all[0].No != second.No {
		t.Errorf("Load: %d documents, %v; want the new one", len(all), err)
	}
	if all, err := s.Documents.Heads(t.Context(), c.No, []int64{first.No}); err != nil || len(all) != 0 {
		t.Errorf("Heads: %d documents, %v; want none", len(all), err)
	}
	if now := get(t, s, "c"); now.Seq != 3 || now.Usage != storetest.Recount(t, s.Documents, now) || now.Usage.Documents != 2 {
		t.Errorf("seq %d, usage %+v; want 3 and %+v", now.Seq, now.Usage, storetest.Recount(t, s.Documents, now))
	}
	changes, _, err := s.Documents.Changes(t.Context(), c.No, 2, 3, 10)
	if diff := gocmp.Diff([]document.Change{{Seq: 3, Op: document.OpReplace, No: second.No, Old: first.No}}, changes); diff != "" || err != nil {
		t.Errorf("changes: %v (-want +got): %s", err, diff)
	}
}

// unencoded returns parts without their vectors.
func unencoded(parts []document.Part) []document.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Vector = nil
	}
	return parts
}

// testReplacedPassages proves that head and text of a replaced document can still be read by a query that has found it, until
// its successor is removed or the corpus reset.
func testReplacedPassages(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	other := create(t, s, "other")
	first := version("d", 2)
	for _, d := range []*document.Document{first, version("d", 3), version("d", 4)} {
		if _, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, d); err != nil {
			t.Fatal(err)
		}
	}
	read := func(in corpus.Corpus, want int) {
		t.Helper()
		rows := s.Documents.(*documents.Store)
		if heads, err := rows.Found(t.Context(), in.No, []int64{first.No, first.No}); err != nil || len(heads) != want {
			t.Errorf("%d documents found, %v; want %d", len(heads), err, want)
		}
		found, err := s.Documents.Passages(t.Context(), in.No, []document.Ref{{No: first.No, Ord: 1}}, document.Window{Whole: true})
		if err != nil || len(found) != want {
			t.Fatalf("%d passages, %v; want %d", len(found), err, want)
		}
		if want == 0 {
			return
		}
		d := found[0].Document
		d.Parts = found[0].Parts
		if err := whole(&d); err != nil || d.Title != first.Title {
			t.Errorf("the passage is of %s: %v", d.Title, err)
		}
	}
	read(c, 1)
	read(other, 0)
	if _, err := storetest.Remove(t.Context(), s.Documents, c, "d"); err != nil {
		t.Fatal(err)
	}
	read(c, 0)
	if _, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, version("d", 5)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	read(c, 0)
}

// testReplaceRefused proves that Replace is refused after a reset, and that a removal of what was there before is, too.
func testReplaceRefused(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	insert(t, s, c, version("d", 0))
	seen, err := s.Documents.Get(t.Context(), c.No, "d", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, version("d", 1)); err != nil {
		t.Fatal(err)
	}
	_, err = s.Documents.Delete(t.Context(), c.No, c.Epoch, seen)
	if f, ok := fault.As(err); !ok || f.Code != "document_changed" {
		t.Errorf("Delete of what was replaced: %v, want document_changed", err)
	}
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Documents.Replace(t.Context(), c.No, c.Epoch, version("d", 2))
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "corpus_changed" {
		t.Errorf("Replace after a reset: %v, want corpus_changed", err)
	}
	if now := get(t, s, "c"); now.Usage != (corpus.Usage{}) || now.Seq != 3 {
		t.Errorf("seq %d, usage %+v; want 3 and nothing", now.Seq, now.Usage)
	}
}

// testKin proves that Kin reads the document of the id and the newest of the digest, once if they are the same, and
// nothing of another corpus or from before a reset.
func testKin(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	other := create(t, s, "other")
	put := func(in corpus.Corpus, docID, digest string, parts int) int64 {
		d := storetest.Document(docID, parts)
		d.Digest = digest
		if _, err := s.Documents.Replace(t.Context(), in.No, in.Epoch, d); err != nil {
			t.Fatal(err)
		}
		return d.No
	}
	replaced := put(c, "a", "gone", 4)
	a := put(c, "a", "one", 2)
	put(c, "b", "two", 1)
	newest := put(c, "c", "two", 3)
	put(other, "z", "three", 1)
	put(c, "e", "", 1)
	for _, x := range []struct {
		id, digest string
		former     int64
		want       map[int64]int
	}{
		{"a", "one", a, map[int64]int{a: 2}},
		{"a", "two", a, map[int64]int{a: 2, newest: 3}},
		{"new", "two", 0, map[int64]int{newest: 3}},
		{"new", "gone", 0, map[int64]int{replaced: 4}},
		{"z", "three", 0, map[int64]int{}},
		{"new", "", 0, map[int64]int{}},
	} {
		got := map[int64]int{}
		former, err := s.Documents.Kin(t.Context(), c.No, x.id, x.digest, func(no int64, p *document.Part) error {
			if p.Ord != got[no] || len(p.Vector) != 772 {
				t.Errorf("part %d of %d with %d bytes of vector", p.Ord, no, len(p.Vector))
			}
			got[no]++
			return nil
		})
		if diff := gocmp.Diff(x.want, got); diff != "" || err != nil {
			t.Errorf("%s, %s: %v (-want +got): %s", x.id, x.digest, err, diff)
		}
		if (former == nil) != (x.former == 0) || former != nil && (former.No != x.former || former.Parts != nil) {
			t.Errorf("%s, %s: former is %+v, want %d", x.id, x.digest, former, x.former)
		}
	}
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	for _, digest := range []string{"one", "gone"} {
		former, err := s.Documents.Kin(t.Context(), c.No, "a", digest, func(no int64, _ *document.Part) error {
			return fmt.Errorf("a part of %d from before a reset", no)
		})
		if former != nil || err != nil {
			t.Errorf("after a reset: %+v, %v", former, err)
		}
	}
	c = get(t, s, "c")
	put(c, "a", "one", 1)
	stop := errors.New("enough")
	if _, err := s.Documents.Kin(t.Context(), c.No, "a", "", func(int64, *document.Part) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of visit: %v", err)
	}
}

// testReplaceAtOnce proves that while documents are replaced, amended and read by many at once, every read shows exactly one
// version of each, whole, and that no amendment of one version ends up in another or gets lost without one.
func testReplaceAtOnce(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	const names, writers, rounds = 3, 6, 12
	docID := func(i int) string { return fmt.Sprint("d", i%names) }
	for i := range names {
		insert(t, s, c, version(docID(i), i))
	}
	amended, err := metadata.NewAmendment(corpus.Corpus{}, []byte(`{"late":true}`), true)
	if err != nil {
		t.Fatal(err)
	}
	var writing atomic.Int64
	writing.Store(writers)
	testkit.AtOnce(t.Context(), writers+2, func(ctx context.Context, i int) struct{} {
		for n := 0; i >= writers && writing.Load() > 0; n++ {
			if err := readWhole(ctx, s, c, docID(n), names); err != nil {
				t.Error(err)
				return struct{}{}
			}
		}
		defer writing.Add(-1)
		for n := 0; i < writers && n < rounds; n++ {
			if _, err := s.Documents.Replace(ctx, c.No, c.Epoch, version(docID(i+n), i*rounds+n)); err != nil {
				t.Errorf("Replace: %v", err)
			}
			edits := []document.Edit{{ID: docID(n), Amendment: amended}}
			_, err := s.Documents.Amend(ctx, c.No, c.Epoch, edits)
			if o := edits[0].Outcome; err != nil || o != document.Updated && o != document.Unchanged {
				t.Errorf("Amend: %v, outcome %d", err, o)
			}
		}
		return struct{}{}
	})
	if now := get(t, s, "c"); now.Usage != storetest.Recount(t, s.Documents, now) || now.Usage.Documents != names {
		t.Errorf("usage %+v, the rows say %+v", now.Usage, storetest.Recount(t, s.Documents, now))
	}
	replayed(t, s, c)
}

// readWhole reads one document and the list.
func readWhole(ctx context.Context, s storetest.Stores, c corpus.Corpus, docID string, all int) error {
	d, err := s.Documents.Get(ctx, c.No, docID, true)
	if err == nil {
		err = whole(d)
	}
	if err != nil {
		return fmt.Errorf("get %s: %w", docID, err)
	}
	if _, err := s.Documents.Image(ctx, c.No, docID, "i1"); err != nil {
		return fmt.Errorf("image of %s: %w", docID, err)
	}
	if found, err := s.Documents.List(ctx, c.No, document.List{Limit: 100}); err != nil || len(found) != all {
		return fmt.Errorf("a list of %d documents, %w; want %d", len(found), err, all)
	}
	found, err := s.Documents.Passages(ctx, c.No, []document.Ref{{No: d.No}}, document.Window{Whole: true})
	if err != nil || len(found) != 1 {
		return fmt.Errorf("%d passages of %s: %w", len(found), docID, err)
	}
	was := found[0].Document
	was.Parts = found[0].Parts
	return whole(&was)
}

// replayed checks that the changes of c, one after another, lead to the documents that are there.
func replayed(t *testing.T, s storetest.Stores, c corpus.Corpus) {
	t.Helper()
	changes, missing, err := s.Documents.Changes(t.Context(), c.No, 0, 1<<40, 100_000)
	if err != nil || missing {
		t.Fatalf("changes: missing %v, %v", missing, err)
	}
	there := map[int64]bool{}
	for _, ch := range changes {
		gone := ch.No
		switch ch.Op {
		case document.OpReplace:
			gone = ch.Old
			there[ch.No] = true
		case document.OpPut:
			there[ch.No] = true
			continue
		case document.OpUpdate:
			if !there[ch.No] {
				t.Errorf("change %d: update of %d, which is not there", ch.Seq, ch.No)
			}
			continue
		}
		if !there[gone] {
			t.Errorf("change %d: %d goes, which is not there", ch.Seq, gone)
		}
		delete(there, gone)
	}
	docs, err := s.Documents.List(t.Context(), c.No, document.List{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range docs {
		if !there[d.No] {
			t.Errorf("%s is there, and not by the changes", d.ID)
		}
		delete(there, d.No)
	}
	if len(there) > 0 {
		t.Errorf("by the changes there are documents that are not: %v", there)
	}
}

// testDeleteManyReplaced proves that a removal by ids finds each document also while it is being replaced.
func testDeleteManyReplaced(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	for round := range 40 {
		insert(t, s, c, version("d", round))
		begin := make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			<-begin
			if _, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, version("d", round+1)); err != nil {
				t.Error(err)
			}
		})
		close(begin)
		if _, n, err := s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, []string{"d"}, time.Time{}); err != nil || n != 1 {
			t.Fatalf("round %d: %d documents removed, %v; want 1", round, n, err)
		}
		group.Wait()
		if _, _, err := s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, []string{"d"}, time.Time{}); err != nil { // where it came first
			t.Fatal(err)
		}
	}
	if now := get(t, s, "c"); now.Usage != (corpus.Usage{}) {
		t.Errorf("usage %+v, want nothing", now.Usage)
	}
}

// testReplaceAndRemove proves that replacements, creations, removals of one and of many, all of the same ids at once, end in a
// state that some order of them explains: usage and changes agree with the rows, and each id has one document or none.
func testReplaceAndRemove(t *testing.T, s storetest.Stores) {
	c := create(t, s, "c")
	ids := []string{"a", "b"}
	testkit.AtOnce(t.Context(), 8, func(ctx context.Context, i int) struct{} {
		for n := range 10 {
			docID := ids[(i+n)%2]
			var err error
			switch i % 4 {
			case 0:
				_, err = s.Documents.Replace(ctx, c.No, c.Epoch, version(docID, i*10+n))
			case 1:
				_, err = s.Documents.Insert(ctx, c.No, c.Epoch, version(docID, i*10+n))
			case 2:
				_, err = storetest.Remove(ctx, s.Documents, c, docID)
			case 3:
				_, _, err = s.Documents.DeleteMany(ctx, c.No, c.Epoch, ids, time.Time{})
			}
			var taken *document.Exists
			if err != nil && !errors.As(err, &taken) && !fault.Is(err, fault.KindNotFound) && !fault.Is(err, fault.KindConflict) {
				t.Errorf("kind %d: %v", i%4, err)
			}
		}
		return struct{}{}
	})
	if now := get(t, s, "c"); now.Usage != storetest.Recount(t, s.Documents, now) || now.Usage.Documents > int64(len(ids)) {
		t.Errorf("usage %+v, the rows say %+v", now.Usage, storetest.Recount(t, s.Documents, now))
	}
	replayed(t, s, c)
}

// TestSweepReplaced proves that the rows of replaced documents are removed when their time is over and not before, large
// ones in steps, and that nothing else goes with them.
func TestSweepReplaced(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, func(t *testing.T, config func(testing.TB) store.Config) {
		db := sweeping(t, config, documents.Sweeper{})
		s := storetest.Stores{Corpora: corpora.New(db), Documents: documents.New(db)}
		c := create(t, s, "c")
		sizes := []int{1, 2*documents.SweepStep + 500, 0, 3, documents.SweepStep}
		for v := range 3 {
			for i, parts := range sizes {
				d := &document.Document{ID: fmt.Sprint(i), Images: []document.Image{{ID: "i", Data: []byte("pixels")}}}
				for ord := range parts {
					d.Parts = append(d.Parts, document.Part{Ord: ord, Text: fmt.Sprint("version ", v)})
				}
				if _, err := s.Documents.Replace(t.Context(), c.No, c.Epoch, d); err != nil {
					t.Fatal(err)
				}
			}
		}
		count := func(want int, query string) {
			t.Helper()
			var n int
			if err := db.Reader(t.Context()).QueryRow(query).Scan(&n); err != nil || n != want {
				t.Errorf("%s gives %d, %v; want %d", query, n, err, want)
			}
		}
		sweep := func() {
			t.Helper()
			if err := db.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sweep()
		count(3*len(sizes), `SELECT COUNT(*) FROM documents`)
		age := func(docID string) {
			t.Helper()
			err := db.Write(t.Context(), func(tx *store.Tx) error {
				return tx.Exec(`UPDATE replaced SET at = at - $1 WHERE doc_no IN (SELECT no FROM documents WHERE id = $2)`,
					2*document.ReplacedFor.Microseconds(), docID)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		age("1")
		sweep()
		count(3*len(sizes)-2, `SELECT COUNT(*) FROM documents`)
		count(2*(len(sizes)-1), `SELECT COUNT(*) FROM replaced`)
		for i := range sizes {
			age(fmt.Sprint(i))
		}
		sweep()
		count(0, `SELECT COUNT(*) FROM replaced`)
		count(len(sizes), `SELECT COUNT(*) FROM documents`)
		count(len(sizes), `SELECT COUNT(*) FROM images`)
		count(3*documents.SweepStep+504, `SELECT COUNT(*) FROM parts`)
		count(3*documents.SweepStep+504, `SELECT COUNT(*) FROM parts WHERE text = 'version 2'`)
	})
}

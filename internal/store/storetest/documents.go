package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/testkit"
)

// bare returns a copy without parts' vectors, or without parts.
func bare(d document.Document, parts bool) document.Document {
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		d.Parts[i].Vector = nil
	}
	if !parts {
		d.Parts = nil
	}
	return d
}

// testInsertAndGet proves that a document comes back as it was written, byte by byte, from every method that reads it.
func testInsertAndGet(t *testing.T, s Stores) {
	c := create(t, s, "c")
	for i, n := range []int{0, 1, 31, 32, 33, 100} {
		want := Document(fmt.Sprint("doc ", n), n)
		seq, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, want)
		if err != nil {
			t.Fatal(err)
		}
		if want.No == 0 || seq != int64(i+1) {
			t.Errorf("No %d, seq %d; want a number and %d", want.No, seq, i+1)
		}
		for _, parts := range []bool{false, true} {
			got, err := s.Documents.Get(t.Context(), c.No, want.ID, parts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(bare(*want, parts), *got); diff != "" {
				t.Errorf("%d parts, Get with parts %v (-want +got): %s", n, parts, diff)
			}
		}
		one, err := s.Documents.Whole(t.Context(), c.No, want.ID)
		if diff := gocmp.Diff(want, one); diff != "" || err != nil {
			t.Errorf("%d parts, Whole: %v (-want +got): %s", n, err, diff)
		}
		whole, err := s.Documents.Load(t.Context(), c.No, []int64{want.No})
		if diff := gocmp.Diff([]document.Document{*want}, whole); diff != "" || err != nil {
			t.Errorf("%d parts, Load: %v (-want +got): %s", n, err, diff)
		}
	}
	if _, err := s.Documents.Whole(t.Context(), c.No, "none"); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("Whole of an unknown document: %v", err)
	}
	small := &document.Document{ID: "small", Metadata: []byte(`{}`), Parts: []document.Part{{Text: "x", Metadata: []byte(`{}`)}}}
	if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, small); err != nil {
		t.Fatal(err)
	}
	got, err := s.Documents.Get(t.Context(), c.No, "small", true)
	if diff := gocmp.Diff(small, got); diff != "" || err != nil {
		t.Errorf("document without extras: %v (-want +got): %s", err, diff)
	}
}

// testTakenID proves that a taken id gives *Exists with the digest of what is there, and changes nothing.
func testTakenID(t *testing.T, s Stores) {
	c := create(t, s, "c")
	insert(t, s, c, "d", 2)
	before := get(t, s, "c")
	other := Document("d", 5)
	other.Digest = "another"
	_, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, other)
	var taken *document.Exists
	if !errors.As(err, &taken) || taken.ID != "d" || taken.Digest != "digest of d" {
		t.Errorf("insert of a taken id: %v, want Exists with the stored digest", err)
	}
	if diff := gocmp.Diff(before, get(t, s, "c")); diff != "" {
		t.Error("the corpus changed (-before +after):", diff)
	}
	d, err := s.Documents.Get(t.Context(), c.No, "d", true)
	if err != nil || len(d.Parts) != 2 {
		t.Errorf("the stored document: %v, %v; want its 2 parts", d, err)
	}
}

// testTakenIDAtOnce proves that of several inserts of one id at once exactly one succeeds, in one change.
func testTakenIDAtOnce(t *testing.T, s Stores) {
	c := create(t, s, "c")
	for round := range 5 {
		docID := fmt.Sprint("d", round)
		made := testkit.AtOnce(t.Context(), 8, func(ctx context.Context, i int) bool {
			_, err := s.Documents.Insert(ctx, c.No, c.Epoch, Document(docID, 1+i%3))
			var taken *document.Exists
			if err != nil && !errors.As(err, &taken) {
				t.Errorf("Insert: %v, want Exists", err)
			}
			return err == nil
		})
		if n := count(made); n != 1 {
			t.Errorf("%d inserts succeeded, want 1", n)
		}
	}
	if now := get(t, s, "c"); now.Seq != 5 || now.Usage.Documents != 5 {
		t.Errorf("seq %d, %d documents; want 5 and 5", now.Seq, now.Usage.Documents)
	}
}

// testEpoch proves that an insert that began before a reset or a delete is refused, and one into the corpus's next life
// is not mixed up.
func testEpoch(t *testing.T, s Stores) {
	c := create(t, s, "c")
	refused := func(when string) {
		t.Helper()
		_, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, Document("d", 1))
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != "corpus_changed" {
			t.Errorf("insert after %s: %v, want the conflict corpus_changed", when, err)
		}
	}
	now, err := s.Corpora.Reset(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	refused("a reset")
	if got := get(t, s, "c"); got.Seq != now.Seq || got.Usage.Documents != 0 {
		t.Errorf("the refused insert left seq %d and %d documents", got.Seq, got.Usage.Documents)
	}
	if err := s.Corpora.Delete(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	refused("a delete")
	create(t, s, "c")
	refused("a delete and a create")
}

// testDeleteDocument proves that delete removes the document with its parts as one change; its id is free for a
// document with another number.
func testDeleteDocument(t *testing.T, s Stores) {
	c := create(t, s, "c")
	no := insert(t, s, c, "d", 3)
	seq, err := Remove(t.Context(), s.Documents, c, "d")
	if err != nil || seq != 2 {
		t.Fatalf("Delete = %d, %v; want 2", seq, err)
	}
	wantEmpty(t, s, c, no)
	if now := get(t, s, "c"); now.Seq != 2 || now.Usage != (corpus.Usage{}) {
		t.Errorf("after delete: seq %d, usage %+v; want 2 and nothing", now.Seq, now.Usage)
	}
	_, err = Remove(t.Context(), s.Documents, c, "x/y")
	if f, ok := fault.As(err); !ok || f.Kind != fault.KindNotFound || f.Code != "document_not_found" || f.ID != "x/y" {
		t.Errorf("delete of no document: %v, want document_not_found of x/y", err)
	}
	if again := insert(t, s, c, "d", 1); again <= no {
		t.Errorf("number %d after %d: numbers must grow", again, no)
	}
	insert(t, s, c, "e", 1)
	gone := testkit.AtOnce(t.Context(), 8, func(ctx context.Context, _ int) bool {
		_, err := Remove(ctx, s.Documents, c, "e")
		return err == nil
	})
	if n := count(gone); n != 1 {
		t.Errorf("%d deletes of one document succeeded, want 1", n)
	}
}

// testUsage proves that usage counts documents, parts and code points after every kind of write.
func testUsage(t *testing.T, s Stores) {
	c := create(t, s, "c")
	var want corpus.Usage
	weigh := func(d *document.Document, sign int64) {
		metadata := utf8.RuneCount(d.Metadata)
		texts := 0
		for _, p := range d.Parts {
			metadata += utf8.RuneCount(p.Metadata)
			texts += utf8.RuneCountInString(p.Text)
		}
		want.Documents += sign
		want.Parts += sign * int64(len(d.Parts))
		want.Characters += sign * int64(texts+metadata)
		want.MetadataCharacters += sign * int64(metadata)
	}
	check := func(when string) {
		t.Helper()
		if diff := gocmp.Diff(want, get(t, s, "c").Usage); diff != "" {
			t.Errorf("after %s (-want +got): %s", when, diff)
		}
	}
	a, b := Document("a", 3), Document("b", 40)
	for _, d := range []*document.Document{a, b} {
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
			t.Fatal(err)
		}
		weigh(d, 1)
		check("insert")
	}
	if _, err := Remove(t.Context(), s.Documents, c, "a"); err != nil {
		t.Fatal(err)
	}
	weigh(a, -1)
	check("delete")
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	want = corpus.Usage{}
	check("reset")
}

// odd are legal ids, ascending by their bytes.
var odd = []string{
	" ", " lead", "%2F", "../x", "/", "//", "A", "B", "Z", "\\", "a", "a b", "a/b/c", "a\tb", "b", "trail ", "z",
	"é", "日本", "\ufffd", "😀", "😀/…",
}

// testIDs proves that every id is found as it is, and the order is that of the bytes whatever the collation of the
// database.
func testIDs(t *testing.T, s Stores) {
	want := append(slices.Clone(odd), strings.Repeat("x", 1024))
	slices.SortFunc(want, cmp.Compare[string])
	c := create(t, s, "c")
	for _, i := range []int{5, 3, 1} { // insertion in three rounds, backwards, so that it isn't the order wanted
		for at := len(want) - 1; at >= 0; at-- {
			if at%2 == 0 && i == 5 || at%4 == 1 && i == 3 || at%4 == 3 && i == 1 {
				insert(t, s, c, want[at], 1)
			}
		}
	}
	for n := 1; n <= len(want)+1; n += 5 {
		var got []string
		for l := (document.List{Limit: n}); ; {
			page, err := s.Documents.List(t.Context(), c.No, l)
			if err != nil || len(page) > n {
				t.Fatalf("a page of %d: %d documents, %v", n, len(page), err)
			}
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				got = append(got, d.ID)
			}
			l.After = got[len(got)-1]
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("ids in pages of %d (-want +got): %s", n, diff)
		}
	}
	for _, docID := range want {
		if d, err := s.Documents.Get(t.Context(), c.No, docID, false); err != nil || d.ID != docID {
			t.Errorf("Get %q: %v", docID, err)
		}
		if _, err := Remove(t.Context(), s.Documents, c, docID); err != nil {
			t.Errorf("Delete %q: %v", docID, err)
		}
	}
}

// testListDocuments proves that List returns heads without parts, and an After that names no document still says where to
// go on.
func testListDocuments(t *testing.T, s Stores) {
	c := create(t, s, "c")
	want := Document("b", 2)
	if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, want); err != nil {
		t.Fatal(err)
	}
	got, err := s.Documents.List(t.Context(), c.No, document.List{Limit: 5, After: "a"})
	if diff := gocmp.Diff([]document.Document{bare(*want, false)}, got); diff != "" || err != nil {
		t.Errorf("List: %v (-want +got): %s", err, diff)
	}
	for _, l := range []document.List{{Limit: 5, After: "b"}, {Limit: 5, After: "c"}, {Limit: 0}} {
		if got, err := s.Documents.List(t.Context(), c.No, l); err != nil || len(got) != 0 {
			t.Errorf("List %+v: %d documents, %v; want none", l, len(got), err)
		}
	}
}

// testCorporaApart proves that one id in two corpora is two documents, and a number of one corpus shows nothing in the
// other.
func testCorporaApart(t *testing.T, s Stores) {
	a, b := create(t, s, "a"), create(t, s, "b")
	inA := insert(t, s, a, "d", 1)
	inB := insert(t, s, b, "d", 2)
	if got, err := s.Documents.Load(t.Context(), a.No, []int64{inB}); err != nil || len(got) != 0 {
		t.Errorf("Load across corpora: %d documents, %v; want none", len(got), err)
	}
	if got, err := s.Documents.Passages(t.Context(), b.No, []document.Ref{{No: inA}}, document.Window{Whole: true}); err != nil || len(got) != 0 {
		t.Errorf("Passages across corpora: %d, %v; want none", len(got), err)
	}
	if err := s.Corpora.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if d, err := s.Documents.Get(t.Context(), b.No, "d", true); err != nil || len(d.Parts) != 2 {
		t.Errorf("Get in the other corpus after the delete of one: %v", err)
	}
}

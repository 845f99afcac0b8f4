package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocmp "github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
	"quarry/internal/testkit"
)

// amendment returns an amendment that must be valid.
func amendment(t *testing.T, given string, merge bool) metadata.Amendment {
	t.Helper()
	a, err := metadata.NewAmendment(corpus.Corpus{}, json.RawMessage(given), merge)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// testAmend proves that Amend changes what its edits name, by number or id, each as one change, and says what became of
// every edit.
func testAmend(t *testing.T, s Stores) {
	c := create(t, s, "c")
	other := create(t, s, "other")
	elsewhere := insert(t, s, other, "a", 1)
	a, b := insert(t, s, c, "a", 2), insert(t, s, c, "b", 40)
	before, err := s.Documents.Get(t.Context(), c.No, "a", true)
	if err != nil {
		t.Fatal(err)
	}
	merge := amendment(t, `{"s":null,"new":"é","n":2}`, true)
	same := amendment(t, `{"n":1.50}`, true)
	edits := []document.Edit{
		{ID: "b", Amendment: amendment(t, `{}`, false)}, {ID: "a", Amendment: same}, {No: a, Amendment: merge},
		{ID: "none", Amendment: merge}, {No: elsewhere, Amendment: merge}, {ID: "a", Amendment: merge},
		{No: b, Amendment: merge, Cutoff: before.Created.Add(-time.Second)},
	}
	seq, err := s.Documents.Amend(t.Context(), c.No, c.Epoch, edits)
	if err != nil || seq != 4 {
		t.Fatalf("Amend = %d, %v; want 4", seq, err)
	}
	var got []document.Outcome
	for _, e := range edits {
		got = append(got, e.Outcome)
	}
	want := []document.Outcome{document.Updated, document.Unchanged, document.Updated, document.Missing, document.Missing, document.Unchanged, document.Newer}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got): %s", diff)
	}
	after, err := s.Documents.Get(t.Context(), c.No, "a", true)
	if err != nil {
		t.Fatal(err)
	}
	if !after.Updated.After(before.Updated) {
		t.Errorf("updated %v after %v", after.Updated, before.Updated)
	}
	wanted := *before
	wanted.Metadata, wanted.Updated = json.RawMessage(`{"n":2,"deep":{"a":[1,null]},"new":"é"}`), after.Updated
	grown := int64(len(wanted.Metadata) - len(before.Metadata))
	wanted.Usage.Bytes, wanted.Usage.MetadataBytes = wanted.Usage.Bytes+grown, wanted.Usage.MetadataBytes+grown
	if diff := gocmp.Diff(wanted, *after); diff != "" {
		t.Errorf("amended document (-want +got): %s", diff)
	}
	changes, _, err := s.Documents.Changes(t.Context(), c.No, 2, 9, 10)
	if diff := gocmp.Diff([]document.Change{{Seq: 3, Op: document.OpUpdate, No: a}, {Seq: 4, Op: document.OpUpdate, No: b}}, changes); diff != "" || err != nil {
		t.Errorf("changes: %v (-want +got): %s", err, diff)
	}
	if seq, err := s.Documents.Amend(t.Context(), c.No, c.Epoch, edits[5:6]); err != nil || seq != 4 || get(t, s, "c").Seq != 4 {
		t.Errorf("an edit that changes nothing: %d, %v; want no change after 4", seq, err)
	}
	if e := get(t, s, "other"); e.Seq != 1 {
		t.Errorf("the other corpus is at change %d, want 1", e.Seq)
	}
}

// testHeads proves that Heads returns documents without parts in order of their numbers, those that exist.
func testHeads(t *testing.T, s Stores) {
	c := create(t, s, "c")
	var want []document.Document
	var nos []int64
	for i := range 600 {
		d := Document(fmt.Sprint("d", i), i%2)
		if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
			t.Fatal(err)
		}
		nos = append([]int64{d.No}, nos...)
		want = append(want, bare(*d, false))
	}
	got, err := s.Documents.Heads(t.Context(), c.No, append(nos, 1_000_000))
	if diff := gocmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Heads: %v (-want +got): %s", err, diff)
	}
	if got, err := s.Documents.Heads(t.Context(), c.No, nil); err != nil || len(got) != 0 {
		t.Errorf("Heads of nothing: %d, %v", len(got), err)
	}
}

// testDeleteMany proves that DeleteMany removes what its ids name and is not newer than the cutoff, in dense changes.
func testDeleteMany(t *testing.T, s Stores) {
	c := create(t, s, "c")
	var ids []string
	for i := range 300 {
		ids = append(ids, fmt.Sprint("d", i))
		insert(t, s, c, ids[i], 1)
	}
	keep, err := s.Documents.Get(t.Context(), c.No, "d7", false)
	if err != nil {
		t.Fatal(err)
	}
	edits := []document.Edit{{ID: "d7", Amendment: amendment(t, `{"x":1}`, true)}}
	if _, err := s.Documents.Amend(t.Context(), c.No, c.Epoch, edits); err != nil {
		t.Fatal(err)
	}
	last, err := s.Documents.Get(t.Context(), c.No, "d299", false)
	if err != nil {
		t.Fatal(err)
	}
	cutoff := last.Created
	if !cutoff.After(keep.Created) {
		t.Fatal("the clock stands still")
	}
	seq, n, err := s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, append([]string{"none", "d3"}, ids...), cutoff)
	if err != nil || n != 299 || seq != 301+299 {
		t.Fatalf("DeleteMany = %d, %d, %v; want 600, 299", seq, n, err)
	}
	if seq, n, err := s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, ids, cutoff); err != nil || n != 0 || seq != 600 {
		t.Errorf("a second time: %d, %d, %v; want 600, 0", seq, n, err)
	}
	if seq, n, err := s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, ids, time.Time{}); err != nil || n != 1 || seq != 601 {
		t.Errorf("without a cutoff: %d, %d, %v; want 601, 1", seq, n, err)
	}
	if now := get(t, s, "c"); now.Usage != (corpus.Usage{}) || now.Seq != 601 {
		t.Errorf("seq %d, usage %+v; want 601 and nothing", now.Seq, now.Usage)
	}
	changes, missing, err := s.Documents.Changes(t.Context(), c.No, 301, 601, 1000)
	if err != nil || missing || len(changes) != 300 {
		t.Fatalf("%d changes, missing %v, %v; want 300", len(changes), missing, err)
	}
	if one := changes[299]; one.Op != document.OpDelete || one.No != keep.No {
		t.Errorf("the last change is %+v, want the removal of %d", one, keep.No)
	}
}

// testChangedMeanwhile proves that a write that was received in another life of the corpus is refused, and so is the
// removal of a document that is not as it was seen: it is left in place.
func testChangedMeanwhile(t *testing.T, s Stores) {
	c := create(t, s, "c")
	insert(t, s, c, "d", 1)
	refused := func(what, code string, err error) {
		t.Helper()
		if f, ok := fault.As(err); !ok || f.Kind != fault.KindConflict || f.Code != code {
			t.Errorf("%s: %v, want the conflict %s", what, err, code)
		}
	}
	seen, err := s.Documents.Get(t.Context(), c.No, "d", false)
	if err != nil {
		t.Fatal(err)
	}
	edits := []document.Edit{{ID: "d", Amendment: amendment(t, `{"x":1}`, true)}}
	if _, err := s.Documents.Amend(t.Context(), c.No, c.Epoch, edits); err != nil {
		t.Fatal(err)
	}
	_, err = s.Documents.Delete(t.Context(), c.No, c.Epoch, seen)
	refused("removal of a document that was amended since", "document_changed", err)
	if _, err := Remove(t.Context(), s.Documents, c, "d"); err != nil {
		t.Fatal(err)
	}
	insert(t, s, c, "d", 2)
	_, err = s.Documents.Delete(t.Context(), c.No, c.Epoch, seen)
	refused("removal of a document that was replaced since", "document_changed", err)
	seen, err = s.Documents.Get(t.Context(), c.No, "d", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Corpora.Reset(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Documents.Delete(t.Context(), c.No, c.Epoch, seen)
	refused("Delete after a reset", "corpus_changed", err)
	_, _, err = s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, []string{"d"}, time.Time{})
	refused("DeleteMany after a reset", "corpus_changed", err)
	_, err = s.Documents.Amend(t.Context(), c.No, c.Epoch, edits)
	refused("Amend after a reset", "corpus_changed", err)
}

// testAmendAtOnce proves that of updates of one document at once none is lost.
func testAmendAtOnce(t *testing.T, s Stores) {
	c := create(t, s, "c")
	insert(t, s, c, "d", 1)
	insert(t, s, c, "e", 1)
	amendments := make([]metadata.Amendment, 16)
	for i := range amendments {
		amendments[i] = amendment(t, fmt.Sprintf(`{"k%d":%d}`, i, i), true)
	}
	testkit.AtOnce(t.Context(), len(amendments), func(ctx context.Context, i int) error {
		edits := []document.Edit{{ID: "d", Amendment: amendments[i]}, {ID: "e", Amendment: amendments[i]}}
		if i%2 == 0 {
			slices.Reverse(edits)
		}
		_, err := s.Documents.Amend(ctx, c.No, c.Epoch, edits)
		if err != nil || edits[0].Outcome != document.Updated || edits[1].Outcome != document.Updated {
			t.Errorf("Amend: %v, %+v", err, edits)
		}
		return err
	})
	for _, docID := range []string{"d", "e"} {
		d, err := s.Documents.Get(t.Context(), c.No, docID, false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range amendments {
			if !strings.Contains(string(d.Metadata), fmt.Sprintf(`"k%d":%d`, i, i)) {
				t.Errorf("update %d of %s was lost: %s", i, docID, d.Metadata)
			}
		}
	}
	if now := get(t, s, "c"); now.Seq != 2+2*16 || now.Usage != Recount(t, s.Documents, now) {
		t.Errorf("seq %d, usage %+v; want 34 and %+v", now.Seq, now.Usage, Recount(t, s.Documents, now))
	}
}

// Recount returns the usage of c as its rows say it.
func Recount(t *testing.T, s document.Store, c corpus.Corpus) (u corpus.Usage) {
	t.Helper()
	for after := int64(0); ; {
		docs, _, _, err := s.Scan(t.Context(), c.No, after, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range docs {
			u.Documents++
			u.Parts += int64(len(d.Parts))
			u.MetadataCharacters += int64(utf8.RuneCount(d.Metadata))
			for _, p := range d.Parts {
				u.MetadataCharacters += int64(utf8.RuneCount(p.Metadata))
				u.Characters += int64(utf8.RuneCountInString(p.Text))
			}
			after = d.No
		}
		if len(docs) < 100 {
			u.Characters += u.MetadataCharacters
			return u
		}
	}
}

// testUsageAlways proves that after any sequence of writes the usage numbers are what the rows say.
func testUsageAlways(t *testing.T, s Stores) {
	random := rand.New(rand.NewPCG(7, 7))
	c := create(t, s, "c")
	some := func() (ids []string) {
		for range 1 + random.IntN(4) {
			ids = append(ids, fmt.Sprint("d", random.IntN(12)))
		}
		return ids
	}
	values := []string{`{"n":null}`, `{"é":"日本"}`, `{}`, `{"a":[1,2,"😀"]}`, `{"n":1.50}`}
	for step := range 120 {
		what := random.IntN(14)
		var err error
		switch {
		case what < 5:
			_, err = s.Documents.Insert(t.Context(), c.No, c.Epoch, Document(some()[0], random.IntN(4)))
		case what < 9:
			var edits []document.Edit
			for _, docID := range some() {
				edits = append(edits, document.Edit{ID: docID, Amendment: amendment(t, values[random.IntN(len(values))], what < 8)})
			}
			_, err = s.Documents.Amend(t.Context(), c.No, c.Epoch, edits)
		case what < 10:
			_, err = Remove(t.Context(), s.Documents, c, some()[0])
		case what == 10 || what == 11 && step%3 > 0:
			_, _, err = s.Documents.DeleteMany(t.Context(), c.No, c.Epoch, some(), time.Time{})
		case what > 11:
			_, err = s.Documents.Replace(t.Context(), c.No, c.Epoch, Document(some()[0], random.IntN(4)))
		default:
			c, err = s.Corpora.Reset(t.Context(), "c")
		}
		if _, taken := err.(*document.Exists); err != nil && !taken && !fault.Is(err, fault.KindNotFound) {
			t.Fatalf("step %d, kind %d: %v", step, what, err)
		}
		if now := get(t, s, "c"); now.Usage != Recount(t, s.Documents, now) {
			t.Fatalf("step %d, kind %d: usage %+v, the rows say %+v", step, what, now.Usage, Recount(t, s.Documents, now))
		}
	}
}

package index_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/index"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// TestLanguages proves that parts are counted by language as of the live documents, through deletes and
// merges, and that the count adds nothing to scores.
func TestLanguages(t *testing.T) {
	t.Parallel()
	x, err := index.Open(index.Config{Epoch: 1})
	if err != nil {
		t.Fatal(err)
	}
	put := func(seq int64, code string) index.Change {
		return index.Change{Seq: seq, Op: index.Put, No: seq, Doc: &index.Document{
			No: seq, ID: fmt.Sprint(seq), Parts: []index.Part{{Lang: code, Stems: []string{"x"}}},
		}}
	}
	var changes []index.Change
	for i := range int64(100) {
		changes = append(changes, put(i+1, []string{"deu", "deu", "eng", ""}[i%4]))
	}
	for i := range int64(25) { // all English
		changes = append(changes, index.Change{Seq: 101 + i, Op: index.Delete, No: 4*i + 3})
	}
	changes = append(changes, put(126, "zho"))
	for _, c := range changes {
		if err := x.Apply([]index.Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	want := []lang.Count{{Code: "deu", Texts: 50}, {Code: "zho", Texts: 1}}
	check := func(x *index.Index) {
		t.Helper()
		s := x.Snapshot()
		defer s.Release()
		got, err := s.Languages()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		found, err := s.Search(t.Context(), search.Query{Terms: []string{"x"}, K: 200})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			if h.BM25 != found.Hits[0].BM25 {
				t.Fatalf("parts of different languages score %v and %v", h.BM25, found.Hits[0].BM25)
			}
		}
	}
	check(x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus/metaquery"
)

// testMetadata proves that Metadata returns every document once in order of number, or every part with its document's
// metadata, of the corpus alone, nothing of before a reset, and an error of visit at once.
func testMetadata(t *testing.T, s Stores) {
	rows, ok := s.Documents.(metaquery.Rows)
	if !ok {
		t.Fatal("the document store does not read metadata")
	}
	a, b := create(t, s, "a"), create(t, s, "b")
	insert(t, s, a, "before", 1)
	a, err := s.Corpora.Reset(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	insert(t, s, a, "z", 2)
	insert(t, s, b, "other", 1)
	insert(t, s, a, "y", 1)
	read := func(parts bool) (got []string) {
		err := rows.Metadata(t.Context(), a.No, parts, func(r metaquery.Row) error {
			got = append(got, fmt.Sprintf("%s %d %s %s", r.ID, r.Ord, r.Metadata, r.Part))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	of := string(Document("", 0).Metadata)
	if diff := cmp.Diff([]string{"z 0 " + of + " ", "y 0 " + of + " "}, read(false)); diff != "" {
		t.Error("documents (-want +got):", diff)
	}
	want := []string{`z 0 ` + of + ` {"lang":"eng","i":0}`, `z 1 ` + of + ` {"lang":"eng","i":1}`, `y 0 ` + of + ` {"lang":"eng","i":0}`}
	if diff := cmp.Diff(want, read(true)); diff != "" {
		t.Error("parts (-want +got):", diff)
	}
	enough, visits := errors.New("enough"), 0
	err = rows.Metadata(t.Context(), a.No, false, func(metaquery.Row) error { visits++; return enough })
	if !errors.Is(err, enough) || visits != 1 {
		t.Errorf("visit gave up: %v after %d visits", err, visits)
	}
	if err := rows.Metadata(t.Context(), 1<<40, true, func(metaquery.Row) error { return enough }); err != nil {
		t.Errorf("no corpus: %v, want nothing", err)
	}
}

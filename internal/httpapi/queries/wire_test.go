package queries

import (
	"testing"

	"quarry/internal/corpus/document"
	"quarry/internal/query/retrieve"
)

func TestTablesComeOnce(t *testing.T) {
	// Proves that a table comes whole with the first result that is of it and with none of the later ones, and that tables
	// of the same id in other documents are others.
	t.Parallel()
	table := &document.Table{ID: "t"}
	got := wireResults([]retrieve.Result{
		{DocumentID: "a", Table: table}, {DocumentID: "a"}, {DocumentID: "a", Table: table}, {DocumentID: "b", Table: table},
		{DocumentID: "a", Table: &document.Table{ID: "u"}}, {DocumentID: "a", CorpusKey: "other", Table: table},
	})
	for i, want := range []bool{true, false, false, true, true, true} {
		if (got[i].Table != nil) != want {
			t.Errorf("result %d: table %v, want one: %v", i, got[i].Table, want)
		}
	}
}

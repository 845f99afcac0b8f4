package retrieve

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/opt"
	"quarry/internal/search"
)

// single is the only corpus.
type single struct {
	corpus corpus.Corpus
}

func (s single) Get(context.Context, ...string) ([]corpus.Corpus, error) {
	return []corpus.Corpus{s.corpus}, nil
}

// rows are the documents by number, from 1.
type rows []document.Document

func (rows) Get(context.Context, int64, string, bool) (*document.Document, error) { return nil, nil }

func (r rows) Passages(_ context.Context, _ int64, refs []document.Ref, _ document.Window) (out []document.Passage, err error) {
	for _, ref := range refs {
		out = append(out, document.Passage{Ref: ref, Document: r[ref.No-1], Parts: r[ref.No-1].Parts})
	}
	return out, nil
}

// TestChangedMeanwhile proves that nobody sees a document that changed between the search and the reading of rows, and
// passes the filter no more.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-time.Hour)
	doc := func(id, metadata string, updated time.Time) document.Document {
		return document.Document{ID: id, Metadata: json.RawMessage(metadata), Updated: updated,
			Parts: []document.Part{{Text: "valve", Metadata: json.RawMessage(`{"kind":"rule"}`)}}}
	}
	all := rows{doc("same", `{"n":5}`, long), doc("still", `{"n":4}`, time.Now()), doc("not", `{"n":2}`, time.Now()), doc("gone", `{}`, time.Now())}
	var hits fixed
	for i, d := range all {
		hits = append(hits, search.Hit{No: int64(i + 1), ID: d.ID, BM25: float64(10 - i)})
	}
	s := New(single{corpus: corpus.Corpus{Key: "k", Attributes: []corpus.Attribute{
		{Name: "n", Level: "document", Type: "integer"}, {Name: "kind", Level: "part", Type: "text"},
	}}}, hits, all, nil)
	for filter, want := range map[string]string{
		"":                                   "same still not gone",
		"doc.n >= 3 AND part.kind = 'rule'":  "same still",
		"doc.n < 3 OR doc.id = 'still'":      "same still not", // the first as the index says
		"doc.n IS NULL AND doc.id != 'same'": "same gone",
	} {
		answer, err := s.Run(t.Context(), Query{Text: "valve", Limit: 10, Sources: []Source{{Corpus: "k", Lambda: opt.Some(1.0), Filter: filter}}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range answer.Results {
			got = append(got, r.DocumentID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", filter, got, want)
		}
	}
}

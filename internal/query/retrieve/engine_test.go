package retrieve

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/expr/filter"
	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
	"quarry/internal/text/lang"
)

// scan is a second search engine: it compares every document of one part with the query. It knows nothing of package
// index.
type scan struct {
	documents rows
	vectors   [][]float32
}

func (s scan) Search(_ context.Context, c corpus.Corpus, q search.Query) (found search.Found, err error) {
	known, err := q.Known()
	if err != nil {
		return found, err
	}
	schema, err := c.Schema()
	for i := range s.documents {
		d := &s.documents[i]
		passes := q.Headings != search.OnlyHeadings // no document has one
		if q.Filter != "" && err == nil {
			var f *filter.Filter
			if f, err = filter.Parse(q.Filter, schema, filter.Both); err == nil {
				passes, err = document.Passes(f, schema, d, &d.Parts[0])
			}
		}
		h := search.Hit{No: int64(i + 1), ID: d.ID, Full: float64(len(q.Terms))}
		stems := analysis.Analyze(d.Parts[0].Text, "eng").Stems
		for _, term := range q.Terms {
			if slices.Contains(stems, term) {
				h.BM25++
			}
		}
		for j, x := range known.Vector {
			h.Cosine += float64(x * s.vectors[i][j])
		}
		if passes && (h.BM25 > 0 || known.Vector != nil) {
			found.Hits = append(found.Hits, h) // fewer than q.K, so all of them
		}
	}
	found.Dense, found.Lexical = nothing.Dense, nothing.Lexical
	return found, err
}

func (scan) Languages(context.Context, corpus.Corpus) ([]lang.Count, error) {
	return []lang.Count{{Code: "eng", Texts: 3}}, nil
}

func (s scan) Vectors(_ context.Context, _ corpus.Corpus, parts []search.Hit) (out [][]float32, err error) {
	for _, p := range parts {
		out = append(out, s.vectors[p.No-1])
	}
	return out, nil
}

// TestSecondEngine proves that another engine answers a whole query: words and meaning, filter, reranker, explanation.
func TestSecondEngine(t *testing.T) {
	t.Parallel()
	encoders, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	var s scan
	for id, text := range map[string]string{
		"oil": "Change the oil of the pump every 500 hours.", "valve": "The relief valve opens at nine bar.",
		"lunch": "Lunch is served at noon in the canteen.", "old": "Oil was changed weekly.",
	} {
		s.documents = append(s.documents, document.Document{
			ID: id, Metadata: json.RawMessage(`{"old":` + map[bool]string{true: "true", false: "false"}[id == "old"] + `}`),
			Parts: []document.Part{{Text: text, Metadata: json.RawMessage(`{}`)}},
		})
		encoder, _ := encoders.Find("")
		vector := [][]float32{make([]float32, encoder.Dim())}
		if err := encoder.Encode(t.Context(), embed.Passage, []string{text}, vector); err != nil {
			t.Fatal(err)
		}
		s.vectors = append(s.vectors, vector[0])
	}
	_, fingerprint, _ := encoders.Resolve("")
	c := corpus.Corpus{Key: "k", EncoderName: embed.DefaultName, EncoderFingerprint: fingerprint, Attributes: []corpus.Attribute{
		{Name: "old", Level: "document", Type: "boolean"},
	}}
	diverse := 0.1
	answer, err := New(single{c}, s, s.documents, encoders).Run(t.Context(), Query{
		Text: "How often is oil changed?", Limit: 2, Explain: true, Vectors: true,
		Reranker: rerank.Spec{Type: "chain", Rerankers: []rerank.Spec{{Limit: 3}, {Type: "mmr", DiversityBias: &diverse}}},
		Sources:  []Source{{Corpus: "k", Lambda: opt.Some(0.5), Filter: "doc.old = false"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Results) != 2 || answer.Results[0].DocumentID != "oil" || answer.Results[1].DocumentID == "old" {
		t.Fatalf("results: %+v", answer.Results)
	}
	for _, r := range answer.Results {
		if r.Text == "" || len(r.Vector) == 0 || math.Abs(sum(r.Explanation)-r.Score) > 1e-6 {
			t.Errorf("result %+v", r)
		}
	}
}

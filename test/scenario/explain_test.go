package scenario_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"testing"

	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/query/retrieve"
)

// post sends a JSON body as the owner and wants this status.
func post(t *testing.T, url, key string, body any, status int) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", key)
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != status {
		t.Fatalf("%s: status %d, want %d", url, got.StatusCode, status)
	}
}

// TestExplanation proves, over random queries of one or two corpora, shares, dimensions and rerankers, that the parts
// of each score sum to it, that asking for them changes no result, and that pages never share one. A document outside
// the pool is said to be so.
func TestExplanation(t *testing.T) {
	t.Parallel()
	a, target := start(t, "")
	r := rand.New(rand.NewPCG(21, 22))
	words := []string{"red", "pump", "water", "blue", "fan", "air", "loud", "oil", "valve", "filter"}
	for _, key := range []string{"sum-a", "sum-b"} {
		post(t, target.URL+"/v2/corpora", target.Keys["owner"], map[string]any{"key": key, "custom_dimensions": []any{
			map[string]any{"name": "boost", "querying_default": 0.03}, map[string]any{"name": "age", "indexing_default": -1.7},
		}}, http.StatusCreated)
		for d := range 13 {
			var parts []any
			for part := range 5 {
				text := ""
				for range 6 {
					text += words[r.IntN(len(words))] + " "
				}
				parts = append(parts, map[string]any{"text": text, "metadata": map[string]any{"n": r.IntN(3), "no": 5*d + part}, "custom_dimensions": map[string]any{"boost": r.NormFloat64() * 50}})
			}
			post(t, target.URL+"/v2/corpora/"+key+"/documents", target.Keys["owner"], map[string]any{"type": "core", "id": fmt.Sprint(key, d), "document_parts": parts}, http.StatusCreated)
		}
	}
	bias, low := 0.6, 0.3
	rerankers := []rerank.Spec{
		{}, {Type: "none"}, {Type: "mmr"}, {Type: "customer_reranker", Cutoff: &low}, {Type: "userfn", UserFunction: "get('$.score') * 7 - get('$.part_metadata.n')"},
		{Type: "chain", Rerankers: []rerank.Spec{{}, {Type: "mmr", DiversityBias: &bias}, {Type: "userfn", UserFunction: "power(10, 200) * get('$.index')"}, {Type: "userfn", UserFunction: "1 / (1 + get('$.index'))"}}},
	}
	for i := range 60 {
		q := retrieve.Query{Text: words[r.IntN(10)] + " " + words[r.IntN(10)], Limit: 7, Reranker: rerankers[i%len(rerankers)], BestPerDocument: r.IntN(3) == 0}
		for _, key := range []string{"sum-a", "sum-b"}[:1+r.IntN(2)] {
			q.Sources = append(q.Sources, retrieve.Source{Corpus: key, Lambda: opt.Some([]float64{0, 0.025, 0.5, 1}[r.IntN(4)]), Dimensions: map[string]float64{"age": r.NormFloat64()}})
		}
		plain, err := a.Retrieve.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Explain, q.Save = true, opt.Some(true)
		told, err := a.Retrieve.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if len(told.Results) != len(plain.Results) {
			t.Fatalf("query %d: %d results explained, %d plain", i, len(told.Results), len(plain.Results))
		}
		seen := map[string]bool{}
		name := func(x retrieve.Result) string { return fmt.Sprint(x.Source, x.DocumentID, string(x.PartMetadata)) }
		for j, x := range told.Results {
			total := 0.0
			for _, p := range x.Explanation {
				total += p.Value
			}
			if p := plain.Results[j]; p.Text != x.Text || p.Score != x.Score || p.DocumentID != x.DocumentID {
				t.Fatalf("query %d, rank %d: %q %v explained, %q %v plain", i, j, x.Text, x.Score, p.Text, p.Score)
			}
			if !(math.Abs(total-x.Score) <= 1e-6) || len(x.Explanation) == 0 {
				t.Fatalf("query %d (%+v): parts %v sum to %v, score %v", i, q.Reranker, x.Explanation, total, x.Score)
			}
			seen[name(x)] = true
		}
		q.Offset = 7
		next, err := a.Retrieve.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range next.Results {
			if seen[name(x)] {
				t.Fatalf("query %d (%+v): %s is on two pages", i, q.Reranker, name(x))
			}
		}
	}
	outside(t, a.Retrieve)
}

// outside looks for documents behind the pool of 100: one corpus asked twice fills it, another comes after it.
func outside(t *testing.T, s *retrieve.Service) {
	t.Helper()
	q := retrieve.Query{Text: "red pump", Limit: 100, Explain: true, Reranker: rerank.Spec{Type: "none"}}
	for _, key := range []string{"sum-a", "sum-a", "sum-b"} {
		q.Sources = append(q.Sources, retrieve.Source{Corpus: key, Lambda: opt.Some(0.0), Dimensions: map[string]float64{"boost": 0, "age": 0}})
	}
	q.Sources[2].Dimensions["age"] = 100 // its parts have -1.7
	for _, document := range []string{"sum-a3", "sum-b3"} {
		q.Absent = document
		told, err := s.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if document == "sum-a3" && told.Absent != nil || document == "sum-b3" && (told.Absent == nil || told.Absent.Stage != retrieve.Candidates) {
			t.Errorf("document %s: %+v", document, told.Absent)
		}
	}
}

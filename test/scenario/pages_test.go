package scenario_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
)

// found is a result as a client reads it.
type found struct {
	Text       string  `json:"text"`
	DocumentID string  `json:"document_id"`
	Corpus     int     `json:"request_corpora_index"`
	Score      float64 `json:"score"`
	Part       struct {
		No    int  `json:"no"`
		Title bool `json:"is_title"`
	} `json:"part_metadata"`
}

// search sends a query as the owner and returns its results.
func search(t *testing.T, url, key, query string, limit, offset int, corpora, reranker any) []found {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"query": query, "search": map[string]any{
		"corpora": corpora, "limit": limit, "offset": offset, "reranker": reranker,
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v2/query", bytes.NewReader(raw))
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
	var out struct {
		Results []found `json:"search_results"`
	}
	if err := json.NewDecoder(got.Body).Decode(&out); err != nil || got.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %v", got.StatusCode, err)
	}
	return out.Results
}

// TestPages proves over HTTP that pages of any size are slices of the order that one deep query shows, for mmr, chains with
// mmr in any place and corpora of different shares, so that they show every result once; scores never rise along it.
func TestPages(t *testing.T) {
	t.Parallel()
	_, target := start(t, "")
	r := rand.New(rand.NewPCG(20, 20))
	words := []string{"red", "pump", "water", "blue", "fan", "air", "loud", "oil", "valve", "filter", "press", "belt"}
	for _, key := range []string{"pages-a", "pages-b"} {
		post(t, target.URL+"/v2/corpora", target.Keys["owner"], map[string]any{"key": key}, http.StatusCreated)
		for d := range 3 {
			var parts []any
			for n := range 60 {
				text := ""
				for range 5 {
					text += words[r.IntN(len(words))] + " "
				}
				parts = append(parts, map[string]any{"text": text, "metadata": map[string]any{"no": n}})
			}
			post(t, target.URL+"/v2/corpora/"+key+"/documents", target.Keys["owner"], map[string]any{"type": "core", "id": fmt.Sprint(d), "document_parts": parts}, http.StatusCreated)
		}
	}
	one := []any{map[string]any{"corpus_key": "pages-a"}}
	two := []any{map[string]any{"corpus_key": "pages-a", "lexical_interpolation": 0.5}, map[string]any{"corpus_key": "pages-b", "lexical_interpolation": 0}}
	mmr := map[string]any{"type": "mmr", "diversity_bias": 0.4}
	odd := map[string]any{"type": "userfn", "user_function": "get('$.part_metadata.no') % 7"}
	chain := func(stages ...any) any { return map[string]any{"type": "chain", "rerankers": stages} }
	for _, c := range []struct {
		name     string
		corpora  any
		reranker any
		results  int
	}{
		{"mmr", one, mmr, 180},
		{"the default, then mmr", two, chain(map[string]any{"type": "customer_reranker"}, mmr), 360},
		{"a function, then mmr", one, chain(odd, mmr), 180},
		{"mmr, then a function", one, chain(mmr, odd), 180},
		{"a limit behind the first band", two, chain(map[string]any{"type": "mmr", "limit": 130}, mmr), 130},
	} {
		deep := search(t, target.URL, target.Keys["owner"], "red pump water", 1000, 0, c.corpora, c.reranker)
		if len(deep) != c.results || !slices.IsSortedFunc(deep, func(a, b found) int { return cmp.Compare(b.Score, a.Score) }) {
			t.Fatalf("%s: %d results, or their scores rise", c.name, len(deep))
		}
		for offset, limit := 0, 0; offset < len(deep); offset += limit {
			limit = 1 + r.IntN(120)
			got := search(t, target.URL, target.Keys["owner"], "red pump water", limit, offset, c.corpora, c.reranker)
			if want := deep[offset:min(offset+limit, len(deep))]; !slices.Equal(got, want) {
				t.Errorf("%s: the page of %d at %d differs from the deep query", c.name, limit, offset)
			}
		}
	}
}

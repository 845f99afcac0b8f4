package retrieve

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// lossy is an engine that may be approximate: where it is, its dense side never looks at one part in eight.
type lossy struct{ fixed }

func overlooked(h search.Hit) bool {
	sum := fnv.New32a()
	fmt.Fprint(sum, h.ID, h.Ord)
	return sum.Sum32()%8 == 0
}

func (l lossy) Search(ctx context.Context, c corpus.Corpus, q search.Query) (search.Found, error) {
	q, err := q.Known()
	if err != nil {
		return search.Found{}, err
	}
	if q.Exact || q.Pool == 0 || q.Vector == nil {
		return l.fixed.Search(ctx, c, q)
	}
	q.K = q.Pool
	dense, words := q, q
	dense.Dimensions, words.Vector = nil, nil
	seen := fixed(slices.DeleteFunc(slices.Clone(l.fixed), overlooked))
	out, err := seen.Search(ctx, c, dense)
	if err != nil {
		return out, err
	}
	out.Hits = out.Hits[:0] // the lexical side overlooks nothing
	all := map[string]search.Hit{}
	slices.SortFunc(seen, func(a, b search.Hit) int { return compareHits(a, b, func(h search.Hit) float64 { return h.Cosine }) })
	for _, h := range seen[:min(q.K, len(seen))] {
		all[fmt.Sprint(h.ID, h.Ord)] = h
	}
	lexical, err := l.fixed.Search(ctx, c, words)
	for _, h := range lexical.Hits {
		all[fmt.Sprint(h.ID, h.Ord)] = h
	}
	for _, h := range all {
		out.Hits = append(out.Hits, h)
	}
	out.Dense.Exact, out.Dense.All = false, false
	out.Lexical = lexical.Lexical
	return out, err
}

func compareHits(a, b search.Hit, score func(search.Hit) float64) int {
	switch {
	case score(a) > score(b):
		return -1
	case score(a) < score(b):
		return 1
	case a.ID < b.ID:
		return -1
	}
	return 1
}

// drawParts draws the hits of documents of one part, numbered from 1, and the documents.
func drawParts(r *rand.Rand, n int) (fixed, rows) {
	var hits fixed
	var docs rows
	for i := range n {
		h := search.Hit{No: int64(i + 1), ID: fmt.Sprintf("d%05d", i), Cosine: r.NormFloat64() * 0.2, Full: 9}
		if r.IntN(12) == 0 {
			h.BM25 = r.ExpFloat64() * 2
		}
		hits = append(hits, h)
		docs = append(docs, document.Document{ID: h.ID, Parts: []document.Part{{Text: fmt.Sprint("words ", r.IntN(9), " ", r.IntN(9))}}})
	}
	return hits, docs
}

// asked returns a service over an engine and corpora a and b of it.
func asked(t *testing.T, engine Engine, docs rows) *Service {
	t.Helper()
	encoders, err := embed.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	_, fingerprint, _ := encoders.Resolve("")
	c := corpus.Corpus{No: 1, Key: "a", EncoderName: embed.DefaultName, EncoderFingerprint: fingerprint}
	d := c
	d.No, d.Key = 2, "b"
	return New(several{"a": c, "b": d}, engine, docs, encoders)
}

// ranks returns the ids of a ranking.
func ranks(all []Ranked) (out []string) {
	for _, x := range all {
		out = append(out, fmt.Sprint(x.DocumentID, "/", x.Ord))
	}
	return out
}

// TestListedPages proves that pages of one query share no result and are slices of one order, whatever their sizes, though the engine
// overlooks some of the best parts: twenty pages of ten, and pages of random sizes, for every kind of reranker, over one
// source and over two of which one is exact. What was overlooked comes behind the first hundred, and nothing gets lost.
func TestListedPages(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(91, 1))
	cutoff := 0.1
	specs := []rerank.Spec{{Type: "none"}, {}, {Type: "mmr"}, {Type: "chain", Rerankers: []rerank.Spec{{}, {Type: "mmr", DiversityBias: &cutoff}}}}
	for round := range 8 {
		hits, docs := drawParts(r, 1200)
		spec := specs[round%len(specs)]
		sources := []Source{{Corpus: "a", Lambda: opt.Some(0.025)}}
		var engine Engine = lossy{hits}
		if round >= len(specs) {
			sources = append(sources, Source{Corpus: "b", Lambda: opt.Some(0.025)})
			engine = byCorpus{1: lossy{hits[:700]}, 2: hits[700:]}
		}
		s := asked(t, engine, docs)
		page := func(offset, limit int, exact bool) []Ranked {
			got, err := s.Rank(t.Context(), Query{Text: "words", Limit: limit, Offset: offset, Reranker: spec, Sources: sources, Exact: exact})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		deep, seen := ranks(page(0, 1000, false)), map[string]int{}
		for offset := 0; offset < 200; offset += 10 {
			for _, id := range ranks(page(offset, 10, false)) {
				if first, twice := seen[id]; twice {
					t.Fatalf("%+v: %s stands at %d and on the page at %d", spec, id, first, offset)
				}
				seen[id] = offset
			}
		}
		if len(seen) != 200 {
			t.Fatalf("%+v: %d results on twenty pages", spec, len(seen))
		}
		for offset, limit := 0, 0; offset < 220; offset += limit {
			limit = 1 + r.IntN(100)
			if got, want := ranks(page(offset, limit, false)), deep[offset:offset+limit]; !slices.Equal(got, want) {
				t.Fatalf("%+v: the page of %d at %d differs:\n%v\nwant\n%v", spec, limit, offset, got, want)
			}
		}
		exact := ranks(page(0, 1000, true))
		if slices.Equal(exact, deep) {
			t.Fatalf("%+v: nothing was overlooked", spec)
		}
		if spec.Type == "none" || spec.Type == "" {
			behind := slices.DeleteFunc(slices.Clone(exact), func(id string) bool { return slices.Contains(deep[:100], id) })
			if !slices.Equal(deep[100:], behind[:len(deep)-100]) {
				t.Errorf("%+v: behind the first hundred stands another order than the exact one", spec)
			}
		}
	}
}

// byCorpus has an engine for each corpus, by number.
type byCorpus map[int64]Engine

func (b byCorpus) Search(ctx context.Context, c corpus.Corpus, q search.Query) (search.Found, error) {
	return b[c.No].Search(ctx, c, q)
}

func (b byCorpus) Languages(ctx context.Context, c corpus.Corpus) ([]lang.Count, error) {
	return b[c.No].Languages(ctx, c)
}

func (b byCorpus) Vectors(ctx context.Context, c corpus.Corpus, parts []search.Hit) ([][]float32, error) {
	return b[c.No].Vectors(ctx, c, parts)
}

// TestListedScores proves that explanations sum to the scores, and that a score never depends on the way a passage was found:
// on every page it is that of the exact order, also where a passage that was overlooked stands behind the first hundred, so
// that scores rise there. With a stage that compares results with each other they never rise.
func TestListedScores(t *testing.T) {
	t.Parallel()
	hits, docs := drawParts(rand.New(rand.NewPCG(91, 2)), 600)
	s := asked(t, lossy{hits}, docs)
	for _, spec := range []rerank.Spec{{Type: "none"}, {}, {Type: "mmr"}} {
		ask := func(exact bool) (all []Result) {
			for offset := 0; offset < 150; offset += 50 {
				answer, err := s.Run(t.Context(), Query{
					Text: "words", Limit: 50, Offset: offset, Explain: true, Reranker: spec, Exact: exact, Sources: []Source{{Corpus: "a", Lambda: opt.Some(0.025)}},
				})
				if err != nil || len(answer.Results) != 50 {
					t.Fatalf("%+v: %d results, %v", spec, len(answer.Results), err)
				}
				all = append(all, answer.Results...)
			}
			return all
		}
		want := map[string]float64{}
		for _, x := range ask(true) {
			want[x.DocumentID] = x.Score
		}
		last, rises := math.Inf(1), 0
		for i, x := range ask(false) {
			if math.Abs(sum(x.Explanation)-x.Score) > 1e-6 {
				t.Errorf("%+v: rank %d has %v, explained by %+v", spec, i, x.Score, x.Explanation)
			}
			if score, ok := want[x.DocumentID]; spec.Type != "mmr" && ok && score != x.Score {
				t.Errorf("%+v: rank %d, %s has %v, in the exact order %v", spec, i, x.DocumentID, x.Score, score)
			}
			if x.Score > last {
				if rises++; spec.Type == "mmr" || i != rerank.FirstBand {
					t.Errorf("%+v: rank %d has %v after %v", spec, i, x.Score, last)
				}
			}
			last = x.Score
		}
		if rises == 0 && spec.Type != "mmr" {
			t.Errorf("%+v: nothing that was overlooked stands behind the first hundred", spec)
		}
	}
}

// TestExactUnasked proves that a ranking is exact where it is asked to be, where a search by lists finds fewer than a hundred, with
// max_by, and where a user function orders a page of more than a hundred as a whole.
func TestExactUnasked(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(91, 3))
	for _, tc := range []struct {
		name  string
		parts int
		q     Query
	}{
		{"asked", 800, Query{Exact: true, Limit: 90}},
		{"few", 110, Query{Limit: 60}},
		{"max_by", 800, Query{BestPerDocument: true, Limit: 90}},
		{"a function over all", 800, Query{Limit: 150, Reranker: rerank.Spec{Type: "userfn", UserFunction: "get('$.score')"}}},
	} {
		hits, docs := drawParts(r, tc.parts)
		for i := range hits { // few match by words alone
			if i > 20 {
				hits[i].BM25 = 0
			}
		}
		tc.q.Text, tc.q.Sources = "words", []Source{{Corpus: "a", Lambda: opt.Some(0.025)}}
		if tc.q.Reranker.Type == "" {
			tc.q.Reranker.Type = "none"
		}
		got, err := asked(t, lossy{hits}, docs).Rank(t.Context(), tc.q)
		if err != nil {
			t.Fatal(err)
		}
		want, err := asked(t, hits, docs).Rank(t.Context(), tc.q)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 || !slices.Equal(ranks(got), ranks(want)) {
			t.Errorf("%s: the order is not the exact one:\n%v\nwant\n%v", tc.name, ranks(got), ranks(want))
		}
	}
}

package retrieve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/opt"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// headed searches hits of which those with an odd Ord are headings that lead to text.
type headed struct{ fixed }

func (h headed) Search(ctx context.Context, c corpus.Corpus, q search.Query) (search.Found, error) {
	some := slices.DeleteFunc(slices.Clone(h.fixed), func(x search.Hit) bool {
		return q.Headings == search.NoHeadings && x.Ord%2 == 1 || q.Headings == search.OnlyHeadings && x.Ord%2 == 0
	})
	q.Headings = search.WithHeadings
	return some.Search(ctx, c, q)
}

// drawHits draws parts of documents of up to four parts; every other part is a heading that leads to text.
func drawHits(r *rand.Rand, n int) (all headed) {
	for no := int64(1); len(all.fixed) < n; no++ {
		for ord := range 1 + r.IntN(4) {
			h := search.Hit{No: no, ID: fmt.Sprintf("d%05d-%d", no, ord), Ord: ord, Cosine: float64(r.IntN(400)) / 1000}
			if r.IntN(3) > 0 {
				h.BM25 = r.ExpFloat64() * 5
			}
			all.fixed = append(all.fixed, h)
		}
	}
	return all
}

// TestHeadingsBehind proves that every depth shows a slice of one order: passages by their scores, then headings by
// theirs, each document once with max_by, over one source and over two of one corpus, of which one ranks headings like passages.
func TestHeadingsBehind(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(78, 2))
	for round := range 120 {
		all := drawHits(r, []int{5, 60, 150, 900}[round%4])
		sources := []source{{lambda: []float64{0.025, 0.5, 1}[round%3], behind: true}}
		if round%5 == 0 {
			sources = append(sources, source{lambda: 0.3, behind: round%2 == 0})
		}
		for i := range sources {
			if sources[i].lambda < 1 {
				sources[i].search.Vector = []float32{1}
			}
		}
		var passages, headings []candidate
		for i := range sources {
			s := &sources[i]
			for _, h := range all.fixed {
				c := candidate{hit: h, source: i, score: s.mix().Score(h.Cosine, h.BM25, 0), heading: h.Ord%2 == 1 && s.behind}
				switch {
				case s.lambda == 1 && h.BM25 == 0:
				case c.heading:
					headings = append(headings, c)
				default:
					passages = append(passages, c)
				}
			}
		}
		sortCandidates(passages)
		sortCandidates(headings)
		want, perDocument := append(passages, headings...), round%7 < 3
		if perDocument {
			want = documents{}.first(want, sources)
		}
		for _, need := range []int{1, 1 + r.IntN(len(all.fixed)), len(passages), len(passages) + 1, 3000} {
			got, err := (&Service{engine: all}).retrieve(t.Context(), Query{BestPerDocument: perDocument}, sources, need)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != min(need, len(want)) {
				t.Fatalf("round %d: %d candidates, want %d", round, len(got), min(need, len(want)))
			}
			for i := range got {
				if got[i].hit != want[i].hit || got[i].source != want[i].source || got[i].heading != want[i].heading {
					t.Fatalf("round %d, need %d: rank %d is %+v, want %+v", round, need, i, got[i], want[i])
				}
			}
		}
	}
}

// TestHeadingPages proves that pages of random sizes are slices of one order whatever reranker runs, that as many results
// come as parts pass where no stage removes any, and that no heading stands before a passage.
func TestHeadingPages(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(78, 3))
	cutoff := func(x float64) *float64 { return &x }
	specs := []rerank.Spec{
		{Type: "none"}, {}, {Type: "mmr"}, {Type: "chain", Rerankers: []rerank.Spec{{}, {Type: "mmr", DiversityBias: cutoff(0.8)}}},
		{Type: "mmr", Cutoff: cutoff(0.3)}, {Cutoff: cutoff(0.4)}, {Type: "mmr", Limit: 70},
		{Type: "chain", Rerankers: []rerank.Spec{{Type: "userfn", UserFunction: "knee()"}, {Type: "mmr"}}},
	}
	for round := range 32 {
		all := drawHits(r, 20+r.IntN([]int{90, 250, 1200}[round%3]))
		docs := make(rows, all.fixed[len(all.fixed)-1].No)
		for _, h := range all.fixed {
			docs[h.No-1].Parts = append(docs[h.No-1].Parts, document.Part{Ord: h.Ord, Text: fmt.Sprint("words ", r.IntN(9), " ", r.IntN(9))})
		}
		spec := specs[round%len(specs)]
		s := New(single{corpus: corpus.Corpus{Key: "k"}}, all, docs, nil)
		page := func(offset, limit int) []Ranked {
			got, err := s.Rank(t.Context(), Query{
				Text: "words", Limit: limit, Offset: offset, Reranker: spec, Sources: []Source{{Corpus: "k", Lambda: opt.Some(1.0)}},
			})
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		deep := page(0, len(all.fixed))
		matching := 0
		for _, h := range all.fixed {
			if h.BM25 > 0 {
				matching++
			}
		}
		if spec.Limit == 0 && spec.Cutoff == nil && round%len(specs) < 4 && len(deep) != matching {
			t.Fatalf("%+v: %d results of %d", spec, len(deep), matching)
		}
		if first := slices.IndexFunc(deep, func(x Ranked) bool { return x.Ord%2 == 1 }); first >= 0 {
			for _, x := range deep[first:] {
				if x.Ord%2 == 0 {
					t.Fatalf("%+v: a passage behind the heading at %d", spec, first)
				}
			}
		}
		for offset, limit := 0, 0; offset < len(all.fixed)+50; offset += limit {
			limit = 1 + r.IntN([]int{10, 120}[r.IntN(2)])
			want := deep[min(offset, len(deep)):min(offset+limit, len(deep))]
			if got := page(offset, limit); !slices.Equal(got, want) {
				t.Fatalf("%+v: the page of %d at %d differs:\n%v\nwant\n%v", spec, limit, offset, got, want)
			}
		}
	}
}

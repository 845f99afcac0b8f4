package retrieve

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/query/rerank"
	"quarry/internal/search"
)

// perCorpus searches the list of the corpus that is asked.
type perCorpus struct {
	fixed // for the rest of an Engine
	of    map[int64]fixed
}

func (s perCorpus) Search(ctx context.Context, c corpus.Corpus, q search.Query) (search.Found, error) {
	return s.of[c.No].Search(ctx, c, q)
}

// TestCalibratedKeepsOrder proves that the default reranker keeps the order of retrieval over corpora whose BM25 reach
// differently far, as long as they are asked with one λ.
func TestCalibratedKeepsOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(15, 16))
	all := map[int64]fixed{}
	var sources []source
	for no := range int64(3) {
		most := []float64{5, 40, 200}[no]
		for i := range 300 {
			all[no] = append(all[no], search.Hit{ID: strconv.Itoa(i), Cosine: r.Float64(), BM25: most * r.Float64(), Full: most})
		}
		src := source{corpus: corpus.Corpus{No: no}, lambda: DefaultLambda}
		src.search.Vector = []float32{1}
		sources = append(sources, src)
	}
	s := &Service{engine: perCorpus{of: all}}
	pool, err := s.retrieve(t.Context(), Query{}, sources, 200)
	if err != nil {
		t.Fatal(err)
	}
	m := candidates{s: s, sources: sources, pool: pool}
	last := 1.0
	for i := range pool {
		p := rerank.Calibrated(m.Signals(i))
		if !(p > 0 && p < last) {
			t.Fatalf("rank %d: %v after %v", i, p, last)
		}
		last = p
	}
}

package retrieve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/index"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/lang"
)

// own is our own index as an engine.
type own struct {
	x    *index.Index
	mu   sync.Mutex
	ways map[string]bool // in which segments were searched; guarded by mu
}

func (o *own) Search(ctx context.Context, _ corpus.Corpus, q search.Query) (search.Found, error) {
	s := o.x.Snapshot()
	defer s.Release()
	found, err := s.Search(ctx, q)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, step := range found.Plan {
		o.ways[step.Way] = true
	}
	return found, err
}

func (o *own) Languages(context.Context, corpus.Corpus) ([]lang.Count, error) { return nil, nil }

func (o *own) Vectors(context.Context, corpus.Corpus, []search.Hit) ([][]float32, error) {
	return nil, nil
}

// clustered returns documents of one part around many centres, each with a few of twenty thousand words.
func clustered(t *testing.T, r *rand.Rand, n, dim int) []index.Change {
	t.Helper()
	centres := make([][]float32, 300)
	for i := range centres {
		centres[i] = make([]float32, dim)
		for j := range dim {
			centres[i][j] = float32(r.NormFloat64())
		}
	}
	out := make([]index.Change, n)
	for i := range out {
		v := slices.Clone(centres[r.IntN(len(centres))])
		for j := range v {
			v[j] += float32(r.NormFloat64())
		}
		packed, err := vector.Pack(v)
		if err != nil {
			t.Fatal(err)
		}
		p := index.Part{Lang: "eng", Vector: packed}
		for range 5 {
			p.Stems = append(p.Stems, fmt.Sprint("w", r.IntN(20_000)))
		}
		no := int64(i + 1)
		out[i] = index.Change{Seq: no, Op: index.Put, No: no, Doc: &index.Document{No: no, ID: fmt.Sprintf("d%05d", i), Parts: []index.Part{p}}}
	}
	return out
}

// TestPagesOfAnIndex proves of our own index that twenty pages of a query share no result: exact ones while its segments are merged, which
// stay the same throughout, and those of one state that are searched by lists. Those have nearly the same results.
func TestPagesOfAnIndex(t *testing.T) {
	t.Parallel()
	const n, dim, pages, limit = 51_000, 64, 20, 10
	r := rand.New(rand.NewPCG(91, 4))
	x, err := index.Open(index.Config{Dir: t.TempDir(), Epoch: 1, Dim: dim, Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}()
	all := clustered(t, r, n, dim)
	for some := range slices.Chunk(all, 8192) {
		if err := x.Apply(some); err != nil {
			t.Fatal(err)
		}
	}
	o := &own{x: x, ways: map[string]bool{}}
	src := source{lambda: DefaultLambda}
	src.search.Terms = []string{"w3", "w77"}
	if src.search.Vector, err = vector.Unpack(all[77].Doc.Parts[0].Vector); err != nil {
		t.Fatal(err)
	}
	ask := func(exact bool) []string {
		var all []string
		seen := map[string]bool{}
		for page := range pages {
			got, err := (&Service{engine: o}).retrieve(t.Context(), Query{Exact: exact}, []source{src}, (page+1)*limit)
			if err != nil || len(got) != (page+1)*limit {
				t.Fatalf("page %d: %d candidates, %v", page, len(got), err)
			}
			for _, c := range got[page*limit:] {
				if seen[c.hit.ID] {
					t.Fatalf("exact %v: %s stands on page %d and before", exact, c.hit.ID, page)
				}
				seen[c.hit.ID] = true
				all = append(all, c.hit.ID)
			}
		}
		return all
	}
	want := ask(true)
	merged := make(chan error, 1)
	go func() {
		for {
			done, err := x.Merge(nil, true)
			if err != nil || !done {
				merged <- err
				return
			}
		}
	}()
	for busy := true; busy; {
		select {
		case err := <-merged:
			if err != nil {
				t.Fatal(err)
			}
			busy = false
		default:
		}
		if got := ask(true); !slices.Equal(got, want) {
			t.Fatalf("while merges run: %v, want %v", got, want)
		}
	}
	if o.ways[search.WayLists] || x.Stats().Segments != 1 {
		t.Fatalf("%d segments, searched by %v", x.Stats().Segments, o.ways)
	}
	got, common := ask(false), 0
	for _, id := range got {
		if slices.Contains(want, id) {
			common++
		}
	}
	if !o.ways[search.WayLists] || common < len(want)*9/10 {
		t.Errorf("%d of %d results are those of the exact order; segments were searched by %v", common, len(want), o.ways)
	}
}

package index_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
	"quarry/internal/search"
)

// crowd returns documents of one part each in topics of different sizes. The attribute year is random in 0 … 999, and score is
// how close the part is to the first one.
func crowd(t testing.TB, n int) []index.Document {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	point := func(near []float32, spread float64) []float32 {
		v := make([]float32, dim)
		var square float64
		for i := range v {
			if v[i] = float32(spread * rng.NormFloat64()); near != nil {
				v[i] += near[i]
			}
			square += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] = float32(float64(v[i]) / math.Sqrt(square))
		}
		return v
	}
	topics := make([][]float32, 30)
	for i := range topics {
		topics[i] = point(nil, 1)
	}
	var first []float32
	out := make([]index.Document, n)
	for i := range out {
		v := point(topics[min(rng.IntN(30), rng.IntN(30))], 0.09)
		if i == 0 {
			first = v
		}
		var near float64
		for j := range v {
			near += float64(v[j]) * float64(first[j])
		}
		packed, err := vector.Pack(v)
		must(t, err)
		d := index.Document{No: int64(i + 1), ID: fmt.Sprintf("d%d", i), Parts: []index.Part{{Vector: packed, Stems: []string{"a"}, Dimensions: []float32{0}}},
			Values: []filter.Value{filter.Text([]string{"hr", "it", "law", "ops"}[rng.IntN(4)]), filter.Int(int64(rng.IntN(1000))), filter.Real(near)}}
		out[i] = d
	}
	return out
}

// listed returns an index of documents in so many segments with lists, searched by them where more than a hundredth of the
// rows pass.
func listed(t testing.TB, docs []index.Document, segments int) *index.Index {
	t.Helper()
	cfg := index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: newSchema(t), SchemaVersion: 4, Dim: dim, Dimensions: 1,
		Notify: func(event string, err error) { t.Errorf("%s: %v", event, err) }}
	x, err := index.Open(cfg)
	must(t, err)
	x.SealAt(1<<30, 0)
	x.ListsFrom(64, len(docs)/segments/100)
	for part := range slices.Chunk(docs, (len(docs)+segments-1)/segments) {
		var changes []index.Change
		for i := range part {
			changes = append(changes, index.Change{Seq: part[i].No, Op: index.Put, No: part[i].No, Doc: &part[i]})
		}
		must(t, x.Apply(changes))
		must(t, x.Flush())
	}
	return x
}

func ask(t testing.TB, x *index.Index, q search.Query) search.Found {
	t.Helper()
	s := x.Snapshot()
	defer s.Release()
	found, err := s.Search(context.Background(), q)
	must(t, err)
	return found
}

// quantile returns the score below which a share of the documents lie.
func quantile(docs []index.Document, share float64) float64 {
	var scores []float64
	for _, d := range docs {
		scores = append(scores, d.Values[2].Float())
	}
	slices.Sort(scores)
	return scores[int(share*float64(len(scores)-1))]
}

// TestFilteredLists proves that filters of every kind lose next to nothing by lists, whatever share of the rows passes:
// random ones, those of what lies around a passage and of what does not, one document, one value. What is found has the score
// that an exact search gives it.
func TestFilteredLists(t *testing.T) {
	t.Parallel()
	const n, k = 6000, 10
	docs := crowd(t, n)
	x := listed(t, docs, 3)
	defer func() { must(t, x.Close()) }()
	if s := x.Stats(); s.Segments != 3 {
		t.Fatalf("%d segments", s.Segments)
	}
	texts := []string{"", "doc.dept = 'it'", "doc.id = 'd77'"}
	for _, share := range []float64{0.5, 0.1, 0.01, 0.001} {
		texts = append(texts, fmt.Sprintf("doc.year < %d", int(1000*share)), fmt.Sprintf("doc.score >= %v", quantile(docs, 1-share)),
			fmt.Sprintf("doc.score < %v", quantile(docs, 1-share)), fmt.Sprintf("doc.score < %v", quantile(docs, share)))
	}
	ways := map[string]int{}
	total := 0.0
	for _, text := range texts {
		sum, asked := 0.0, 0
		for i := 0; i < n; i += n / 25 {
			v, err := vector.Unpack(docs[i].Parts[0].Vector)
			must(t, err)
			q := search.Query{Vector: v, K: k, Pool: k, Filter: text, Schema: 4}
			got := ask(t, x, q)
			q.Exact = true
			want := ask(t, x, q)
			sum, asked = sum+shared(t, got.Hits, want.Hits), asked+1
			for _, s := range got.Plan {
				ways[s.Way]++
				if searched := s.Way != search.WayScan; searched != (s.Codes > 0) || searched != (s.Lists > 0) || s.Settled > s.Passing {
					t.Fatalf("step %+v", s)
				}
			}
			for _, s := range want.Plan {
				if s.Way != search.WayScan || !want.Dense.Exact {
					t.Fatalf("exact, and yet step %+v, %+v", s, want.Dense)
				}
			}
		}
		total += sum / float64(asked)
		if mean := sum / float64(asked); mean < 0.97 {
			t.Errorf("%q: recall %.3f", text, mean)
		}
	}
	if mean := total / float64(len(texts)); mean < 0.99 {
		t.Errorf("recall %.4f over all filters", mean)
	}
	t.Logf("ways %v, recall %.4f", ways, total/float64(len(texts)))
	for _, way := range []string{search.WayScan, search.WayLists, search.WayBlocks, search.WayAll} {
		if ways[way] == 0 {
			t.Errorf("no segment was searched by %s: %v", way, ways)
		}
	}
}

// shared returns what share of the wanted hits is reached by the scores of those that were found, and fails where a hit has
// another score than the exact search gives it.
func shared(t *testing.T, got, want []search.Hit) float64 {
	t.Helper()
	if len(want) == 0 {
		return 1
	}
	cosines, least := map[string]float64{}, math.Inf(1)
	for _, h := range want {
		cosines[h.ID] = h.Cosine
		least = min(least, h.Cosine)
	}
	n := 0
	for _, h := range got {
		if c, ok := cosines[h.ID]; ok && c != h.Cosine {
			t.Fatalf("%s has %v by lists and %v exactly", h.ID, h.Cosine, c)
		}
		if h.Cosine >= least {
			n++
		}
	}
	return min(1, float64(n)/float64(len(want)))
}

// TestPool proves that an answer that is not exact has the pool of its query, whatever page is asked for, that one
// without a pool is exact, and that no more than all parts are wanted.
func TestPool(t *testing.T) {
	t.Parallel()
	docs := crowd(t, 500)
	x := listed(t, docs, 1)
	defer func() { must(t, x.Close()) }()
	v, err := vector.Unpack(docs[3].Parts[0].Vector)
	must(t, err)
	for _, c := range []struct {
		k, pool, hits int
		exact         bool
		way           string
	}{
		{10, 50, 50, false, search.WayLists}, {100, 50, 50, false, search.WayLists}, {10, 0, 10, true, search.WayScan}, {10, 600, 500, true, search.WayLists},
	} {
		got := ask(t, x, search.Query{Vector: v, K: c.k, Pool: c.pool, Schema: 4})
		if len(got.Hits) != c.hits || got.Dense.Exact != c.exact || got.Plan[0].Way != c.way {
			t.Errorf("%+v: %d hits, %+v, %+v", c, len(got.Hits), got.Dense, got.Plan)
		}
	}
	got := ask(t, x, search.Query{Vector: v, Terms: []string{"a"}, K: 3, Pool: 40, Schema: 4})
	if !got.Lexical.Exact || got.Lexical.All || len(got.Hits) < 40 {
		t.Errorf("%d hits, lexical side %+v", len(got.Hits), got.Lexical)
	}
}

// worded returns a crowd with words, a sixth of which are copies of others by their vectors, a third of those in all.
func worded(t testing.TB, n int) []index.Document {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	words := rand.NewZipf(rng, 1.2, 4, 60)
	docs := crowd(t, n)
	for i := range docs {
		part := &docs[i].Parts[0]
		part.Stems = nil
		for range 3 + rng.IntN(20) {
			part.Stems = append(part.Stems, fmt.Sprint("w", words.Uint64()))
		}
		if from := rng.IntN(i + 1); rng.IntN(6) == 0 {
			if part.Vector = docs[from].Parts[0].Vector; rng.IntN(3) == 0 {
				part.Stems = docs[from].Parts[0].Stems
			}
		}
	}
	return docs
}

// first returns the first n hits by a mix, ties by the order of documents.
func first(hits []search.Hit, m search.Mix, n int) []search.Hit {
	score := func(h search.Hit) float64 { return m.Score(h.Cosine, h.BM25, h.Dims) }
	slices.SortFunc(hits, func(a, b search.Hit) int {
		return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.No, b.No))
	})
	return hits[:min(n, len(hits))]
}

// TestMix proves that a search with a mix gives the best by it of what the same search gives without one, each with the same scores, and few
// others: for shares from words to vectors, pools smaller and larger than what passes, copies of passages at the edge of the pool, one segment and several.
func TestMix(t *testing.T) {
	t.Parallel()
	const n = 3000
	docs := worded(t, n)
	all, given, mixed := 0, 0, 0
	for _, segments := range []int{1, 3} {
		x := listed(t, docs, segments)
		for i := 0; i < n; i += n / 30 {
			v, err := vector.Unpack(docs[i].Parts[0].Vector)
			must(t, err)
			for _, lambda := range []float64{0, 0.001, 0.025, 0.3, 0.999} {
				for _, pool := range []int{5, 200, n} {
					for _, filter := range []string{"", "doc.dept = 'it'"} {
						q := search.Query{Vector: v, Terms: docs[(i+7)%n].Parts[0].Stems, K: 10, Pool: pool, Filter: filter, Schema: 4}
						if i%3 == 0 {
							q.Terms = append(q.Terms, docs[i].Parts[0].Stems...)
						}
						if lambda == 0 {
							q.Terms = nil
						}
						m := search.Mix{Lambda: lambda, Scale: 72, Half: 16, Need: min(pool, 1+i%23)}
						want := ask(t, x, q)
						q.Mix = &m
						got := ask(t, x, q)
						all, given = all+len(want.Hits), given+len(got.Hits)
						if got.Mixed {
							mixed++
						}
						if !got.Mixed && len(got.Hits) != len(want.Hits) {
							t.Fatalf("%d hits of %d, and none were left out", len(got.Hits), len(want.Hits))
						}
						if want, got := first(want.Hits, m, m.Need), first(got.Hits, m, m.Need); !slices.Equal(want, got) {
							t.Fatalf("part %d, %+v, pool %d, %q, %d segments: got %v, want %v", i, m, pool, filter, segments, got, want)
						}
					}
				}
			}
		}
		must(t, x.Close())
	}
	if mixed < 1000 || 2*given > all {
		t.Errorf("%d searches were mixed, %d of %d hits given", mixed, given, all)
	}
	t.Logf("%d searches were mixed, %d of %d hits given", mixed, given, all)
}

// TestKeptCentroids proves that a segment that is written anew keeps the centroids of its lists.
func TestKeptCentroids(t *testing.T) {
	t.Parallel()
	docs := crowd(t, 300)
	x := listed(t, docs, 1)
	dir := x.Dir()
	var deletes []index.Change
	for i := range int64(80) {
		deletes = append(deletes, index.Change{Seq: 301 + i, Op: index.Delete, No: 1 + 3*i})
	}
	must(t, x.Apply(deletes))
	centroids := func(name string) []byte {
		f, err := segment.Open(filepath.Join(dir, name))
		must(t, err)
		defer func() { must(t, f.Close()) }()
		return slices.Clone(f.Section("list.hi").Data)
	}
	was := centroids("1.seg")
	merged(t, x, false)
	if s := x.Stats(); s.Rows != 220 {
		t.Fatalf("%+v: not written anew", s)
	}
	if now := centroids("2.seg"); len(was) == 0 || !slices.Equal(was, now) {
		t.Errorf("%d bytes of centroids, then %d others", len(was), len(now))
	}
	must(t, x.Close())
}

// TestRecallIsCounted proves that searches by lists are asked again exactly and counted by way, that exact ones are not, and
// that closing waits for what is being asked.
func TestRecallIsCounted(t *testing.T) {
	t.Parallel()
	docs := crowd(t, 1000)
	x := listed(t, docs, 2)
	x.CheckEvery(2)
	for i := range 40 {
		v, err := vector.Unpack(docs[i].Parts[0].Vector)
		must(t, err)
		ask(t, x, search.Query{Vector: v, K: 10, Pool: 20, Exact: i%2 == 0, Schema: 4})
		x.WaitForChecks()
	}
	must(t, x.Close())
	got := x.Recall()
	if len(got) != 1 || got[0].Way != search.WayLists || got[0].Queries < 1 || got[0].Queries > 10 || got[0].Mean < 0.9 || got[0].Mean > 1 {
		t.Errorf("recall %+v", got)
	}
}

package index_test

import (
	"slices"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/search"
)

// An index large enough for several windows, blocks and kernel calls per list answers as the documents themselves do,
// before and after deletes, in many segments as in one, in memory as in files.
func TestLarge(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	const last = 4400 // documents, twice as many parts
	docs := sampleDocs(1, last)
	o := oracle{schema: schema, docs: map[int64]*index.Document{}}
	cfg := index.Config{Epoch: 8, Encoder: "e", Schema: schema, Dim: dim, Dimensions: 1}
	one, err := index.Open(cfg)
	must(t, err)
	cfg.Dir = t.TempDir()
	many, err := index.Open(cfg)
	must(t, err)
	many.SealAt(1500, 0)
	var deletes []index.Change
	for i := range docs {
		o.docs[docs[i].No] = &docs[i]
		if i%4 == 3 {
			deletes = append(deletes, index.Change{Seq: int64(last + len(deletes)), Op: index.Delete, No: docs[i].No})
		}
	}
	for from := int64(1); from < last; from += 100 {
		must(t, many.Apply(puts(from, min(from+100, last))))
	}
	batch := docs
	must(t, one.Replace(last-1, func() ([]index.Document, error) {
		out := batch
		batch = nil
		return out, nil
	}))
	if n := many.Stats().Segments; n < 4 {
		t.Fatalf("%d segments", n)
	}
	queries := largeQueries(t, schema)
	compareAll := func(when string) {
		t.Helper()
		for i, q := range queries {
			s := many.Snapshot()
			o.compare(t, s, q)
			s.Release()
			if got, want := sortedHits(t, many, q), sortedHits(t, one, q); !slices.Equal(got, want) {
				t.Fatalf("%s, query %d: other hits in %+v than in %+v", when, i, many.Stats(), one.Stats())
			}
		}
	}
	compareAll("whole")
	for _, c := range deletes {
		delete(o.docs, c.No)
	}
	must(t, one.Apply(deletes))
	must(t, many.Apply(deletes))
	compareAll("after deletes")
	merged(t, many, false)
	compareAll("after worn segments were written anew")
	merged(t, many, true)
	if st := many.Stats(); st.Segments != 1 || st.Rows != st.Live {
		t.Errorf("at rest: %+v", st)
	}
	compareAll("at rest")
	must(t, many.Close())
	many, err = index.Open(cfg)
	must(t, err)
	if st := many.Stats(); st.Rows != st.Live || st.HeapBytes != 0 || many.Applied() != one.Applied() {
		t.Errorf("after a restart: %+v", st)
	}
	compareAll("after a restart")
	must(t, many.Close())
	must(t, one.Close())
}

// largeQueries use every side, with filters that leave all, half, few and none.
func largeQueries(t *testing.T, schema *filter.Schema) []search.Query {
	var out []search.Query
	for i, text := range []string{
		"", "doc.year > 100 AND part.kind IS NULL", "doc.year % 2 = 1", "doc.year < 40", "doc.year = 7", "doc.year = -1",
		"doc.dept = 'ab' OR doc.year > doc.score",
	} {
		q := sampleQuery(t)
		q.Filter, q.K = text, []int{1, 10, 100}[i%3]
		q.Terms = append(q.Terms, vocabulary[i], "boat", "unknown")
		out = append(out, q)
		q.Vector = nil
		q.PhrasesRequired = true
		out = append(out, q)
		q = search.Query{Vector: sampleQuery(t).Vector, K: q.K, Filter: text}
		out = append(out, q)
	}
	return out
}

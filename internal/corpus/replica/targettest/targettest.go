// Package targettest is the conformance suite of replica.Target: what every engine must do that a replica writes to and
// searches, whatever it is made of and wherever it is.
package targettest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quarry/internal/corpus/replica"
	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// dim is the width of the vectors.
const dim = 64

// Opener opens a target; Dir is a folder of its own, for targets that have files.
type Opener func(cfg index.Config) (replica.Target, error)

// Run holds the targets of an opener to what a replica needs.
func Run(t *testing.T, open Opener) {
	for _, tc := range []struct {
		name string
		test func(*world)
	}{
		{"changes", changes}, {"gaps", gaps}, {"views", views}, {"replace", replace}, {"repair", repair}, {"retype", retype}, {"sides", sides}, {"drop", drop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := &world{TB: t, open: open, cfg: index.Config{
				Dir: t.TempDir(), Epoch: 7, Encoder: "e", Schema: schema(t, filter.Attribute{Level: filter.Document, Name: "n", Type: filter.Integer}),
				SchemaVersion: 3, Dim: dim, Dimensions: 1,
			}}
			w.start()
			tc.test(w)
		})
	}
}

func schema(t testing.TB, attributes ...filter.Attribute) *filter.Schema {
	t.Helper()
	s, err := filter.NewSchema(attributes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// world is a target under test.
type world struct {
	testing.TB
	open   Opener
	cfg    index.Config
	target replica.Target
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) start() {
	w.Helper()
	var err error
	w.target, err = w.open(w.cfg)
	w.must(err)
	last := w.target
	w.Cleanup(func() { _ = last.Close() }) // may be the second time
}

// state asks how far the target is.
func (w *world) state(want search.State) {
	w.Helper()
	if got, err := w.target.Applied(context.Background()); err != nil || got != want {
		w.Fatalf("state %+v, %v; want %+v", got, err, want)
	}
}

// document returns the document with a number: three parts, of which the first is a heading that leads to text and the last has
// a word that others lack.
func document(no int64, word string) search.Document {
	d := search.Document{No: no, ID: fmt.Sprintf("d%03d", no), Values: []filter.Value{filter.Int(no % 10)}}
	for ord, text := range []string{"Pumps", fmt.Sprintf("The pump has %d valves", no), "Here stands " + word} {
		terms := analysis.Analyze(text, "eng")
		v := make([]float32, dim)
		v[int(no)%dim], v[(int(no)+ord+1)%dim] = 1, 0.5
		packed, err := vector.Pack(v)
		if err != nil {
			panic(err) // it has a direction
		}
		d.Parts = append(d.Parts, search.Part{
			Ord: ord, Lang: []string{"eng", "eng", "deu"}[ord], Stems: terms.Stems, Words: terms.Words, Vector: packed,
			Dimensions: []float32{float32(no) / 8}, Leads: ord == 0,
		})
	}
	return d
}

// put returns the change with a number that puts the document with that number.
func put(no int64, word string) search.Change {
	d := document(no, word)
	return search.Change{Seq: no, Op: search.Put, No: no, Doc: &d}
}

func (w *world) fill(n int64) {
	w.Helper()
	var all []search.Change
	for no := int64(1); no <= n; no++ {
		all = append(all, put(no, fmt.Sprintf("word%d", no)))
	}
	w.must(w.target.Apply(context.Background(), all))
}

// found searches the present state.
func (w *world) found(q search.Query) search.Found {
	w.Helper()
	v, err := w.target.View(context.Background())
	w.must(err)
	defer v.Release()
	return w.foundIn(v, q)
}

func (w *world) foundIn(v replica.View, q search.Query) search.Found {
	w.Helper()
	if q.Schema == 0 {
		q.Schema = w.cfg.SchemaVersion
	}
	found, err := v.Search(context.Background(), q)
	w.must(err)
	return found
}

// ids lists the documents of hits, each once.
func ids(f search.Found) string {
	var out []string
	for _, h := range f.Hits {
		out = append(out, h.ID)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// word is the query for the documents that have a word.
func word(words ...string) search.Query { return search.Query{Terms: words, K: 1000} }

// wants holds the documents with a word to a list.
func (w *world) wants(word_, want string) {
	w.Helper()
	if got := ids(w.found(word(word_))); got != want {
		w.Fatalf("%s is found in %q, want %q", word_, got, want)
	}
}

// next returns batches of two documents.
func next(docs ...search.Document) func() ([]search.Document, error) {
	all := slices.Collect(slices.Chunk(docs, 2))
	return func() ([]search.Document, error) {
		if len(all) == 0 {
			return nil, nil
		}
		first := all[0]
		all = all[1:]
		return first, nil
	}
}

// changes: puts, deletes, updates, replacements in one change and resets show at once.
func changes(w *world) {
	ctx := context.Background()
	w.state(search.State{Schema: 3})
	w.fill(4)
	w.state(search.State{Applied: 4, Schema: 3})
	w.wants("word3", "d003")
	with := func(filter, want string) {
		w.Helper()
		q := search.Query{Terms: []string{"pump"}, Filter: filter, K: 1000}
		if got := ids(w.found(q)); got != want {
			w.Fatalf("%s: %q, want %q", filter, got, want)
		}
	}
	with("doc.n >= 3", "d003 d004")
	updated, other := search.Document{No: 4, ID: "d004", Values: []filter.Value{filter.Int(-5)}}, document(7, "new")
	w.must(w.target.Apply(ctx, []search.Change{
		{Seq: 5, Op: search.Delete, No: 3}, {Seq: 6, Op: search.Update, No: 4, Doc: &updated},
		{Seq: 7, Op: search.Put, No: 7, Old: 1, Doc: &other}, {Seq: 8, Op: search.Put, No: 8},
	}))
	with("doc.n < 0", "d004")
	with("doc.id <> 'd004'", "d002 d007")
	w.wants("word1", "")
	w.wants("new", "d007")
	lost, err := w.target.Lost(ctx, []int64{1, 2, 3, 4, 7, 99})
	if err != nil || !slices.Equal(lost, []int64{1, 3, 99}) {
		w.Fatalf("lost %v, %v", lost, err)
	}
	w.must(w.target.Apply(ctx, []search.Change{{Seq: 9, Op: search.Reset}}))
	w.wants("pump", "")
	w.state(search.State{Applied: 9, Schema: 3})
}

// gaps: changes that do not follow what is applied change nothing.
func gaps(w *world) {
	w.fill(2)
	for _, from := range []int64{1, 2, 4} {
		if err := w.target.Apply(context.Background(), []search.Change{put(from, "late"), put(from+1, "late")}); err == nil {
			w.Errorf("changes from %d behind 2 were taken", from)
		}
	}
	w.state(search.State{Applied: 2, Schema: 3})
	w.wants("late", "")
}

// views: one stays as it is, whatever is written beside it.
func views(w *world) {
	ctx := context.Background()
	w.fill(3)
	v, err := w.target.View(ctx)
	w.must(err)
	defer v.Release()
	w.must(w.target.Apply(ctx, []search.Change{{Seq: 4, Op: search.Delete, No: 2}}))
	if got := ids(w.foundIn(v, word("pump"))); got != "d001 d002 d003" || v.Seq() != 3 {
		w.Errorf("change %d: %q", v.Seq(), got)
	}
	w.wants("pump", "d001 d003")
	languages, err := v.Languages(ctx)
	if err != nil || len(languages) != 2 || languages[0].Code != "eng" || languages[0].Texts != 6 || languages[1].Texts != 3 {
		w.Errorf("languages %+v, %v", languages, err)
	}
	vectors, err := v.Vectors(ctx, []search.Hit{{No: 2, Ord: 1}, {No: 9}})
	if err != nil || len(vectors) != 2 || len(vectors[0]) != dim || vectors[1] != nil || math.Abs(float64(vectors[0][4])-0.5/math.Sqrt(1.25)) > 1e-3 {
		w.Errorf("vectors %v, %v", vectors, err)
	}
	q := word("pump")
	q.Filter, q.Schema = "doc.n = 1", 4
	if _, err := v.Search(ctx, q); !errors.Is(err, search.ErrSchema) {
		w.Errorf("a filter for other attributes: %v", err)
	}
}

// replace: all that was is gone, and an error on the way changes nothing.
func replace(w *world) {
	ctx := context.Background()
	w.fill(3)
	broken := errors.New("the rows can't be read")
	first := next(document(20, "never"))
	if err := w.target.Replace(ctx, 9, func() ([]search.Document, error) {
		if docs, _ := first(); docs != nil {
			return docs, nil
		}
		return nil, broken
	}); !errors.Is(err, broken) {
		w.Errorf("the error of the rows is %v", err)
	}
	w.state(search.State{Applied: 3, Schema: 3})
	w.wants("never", "")
	w.must(w.target.Replace(ctx, 40, next(document(5, "five"), document(6, "six"), document(7, "seven"))))
	w.state(search.State{Applied: 40, Schema: 3})
	w.wants("pump", "d005 d006 d007")
	w.must(w.target.Apply(ctx, []search.Change{put(41, "behind")}))
	w.wants("behind", "d041")
}

// repair: what was lost comes beside what is there.
func repair(w *world) {
	ctx := context.Background()
	w.fill(2)
	w.must(w.target.Repair(ctx, next(document(50, "back"))))
	w.state(search.State{Applied: 2, Schema: 3})
	w.wants("pump", "d001 d002 d050")
	w.wants("back", "d050")
}

// retype: other attributes show from the swap on, with what was written meanwhile, and texts and vectors stay.
func retype(w *world) {
	ctx := context.Background()
	w.fill(3)
	before := w.found(search.Query{Vector: axis(2), Terms: []string{"pump"}, K: 1000})
	to := schema(w, filter.Attribute{Level: filter.Document, Name: "size", Type: filter.RealNumber}, filter.Attribute{Level: filter.Part, Name: "tags", Type: filter.TextList})
	values := func(no int64) search.Document {
		d := search.Document{No: no, Values: []filter.Value{filter.Real(float64(no) / 3)}}
		for ord := range 3 {
			d.Parts = append(d.Parts, search.Part{Ord: ord, Leads: ord == 0, Values: []filter.Value{{}, filter.List(filter.TextList, filter.Text(fmt.Sprint("t", ord)))}})
		}
		return d
	}
	discarded, err := w.target.Retype(ctx, to)
	w.must(err)
	discarded.Discard()
	r, err := w.target.Retype(ctx, to)
	w.must(err)
	w.must(r.Add(ctx, []search.Document{values(1), values(2), values(3)}))
	w.must(r.Prepare(ctx))
	w.must(w.target.Apply(ctx, []search.Change{put(4, "late")}))
	w.must(r.Add(ctx, []search.Document{values(4)}))
	q := search.Query{Terms: []string{"pump"}, Filter: "doc.n >= 2", K: 1000}
	if got := ids(w.found(q)); got != "d002 d003 d004" {
		w.Errorf("before the swap: %q", got)
	}
	w.must(r.Swap(ctx, 4))
	w.state(search.State{Applied: 4, Schema: 4})
	w.cfg.SchemaVersion = 4
	q.Filter = "doc.size > 0.5 AND 't1' IN part.tags"
	if got := ids(w.found(q)); got != "d002 d003 d004" {
		w.Errorf("after the swap: %q", got)
	}
	w.must(w.target.Apply(ctx, []search.Change{{Seq: 5, Op: search.Delete, No: 4}}))
	same(w, before, w.found(search.Query{Vector: axis(2), Terms: []string{"pump"}, K: 1000}))
}

func axis(i int) []float32 {
	v := make([]float32, dim)
	v[i], v[i+1] = 1, 0.25
	return v
}

// same holds two answers to the same hits, bit for bit.
func same(w *world, a, b search.Found) {
	w.Helper()
	for _, f := range []search.Found{a, b} {
		slices.SortFunc(f.Hits, func(x, y search.Hit) int {
			return strings.Compare(fmt.Sprint(x.ID, x.Ord), fmt.Sprint(y.ID, y.Ord))
		})
	}
	if len(a.Hits) == 0 || !slices.Equal(a.Hits, b.Hits) {
		w.Errorf("hits\n%+v\nand\n%+v", a.Hits, b.Hits)
	}
}

// sides: what a search left out is no better than it says, for few and for many, with and without words, meaning and dimensions,
// and what it calls exact is in the answer to every K.
func sides(w *world) {
	w.fill(40)
	for _, q := range []search.Query{
		{Vector: axis(3)}, {Terms: []string{"pump"}}, {Vector: axis(9), Terms: []string{"pump", "word12"}, Dimensions: []float64{0.5}},
		{Terms: []string{"pump", "valv"}, Dimensions: []float64{-1}, Headings: search.NoHeadings}, {Vector: axis(3), Headings: search.OnlyHeadings},
		{Vector: axis(5), Terms: []string{"pump"}, Filter: "doc.n IN (1, 2)", Exclude: []string{"word12"}},
	} {
		q.K, q.Exact = 1000, true
		all := w.found(q)
		for _, exact := range []bool{true, false} {
			for _, k := range []int{1, 7, 60, 500} {
				q.K, q.Pool, q.Exact = k, k, exact
				some := w.found(q)
				w.left(&q, all, some)
				again := w.found(q)
				same(w, some, again)
			}
		}
		w.mixed(q)
		w.late(q)
	}
}

// late: a vector that comes while the words are searched is as good as one that is there, and one that does not come ends the search.
func (w *world) late(q search.Query) {
	w.Helper()
	if q.Vector == nil {
		return
	}
	q.K, q.Exact = 60, true
	want, v := w.found(q), q.Vector
	q.Vector, q.Late = nil, func() ([]float32, error) { return v, nil }
	same(w, want, w.found(q))
	none := errors.New("no vector")
	q.Late = func() ([]float32, error) { return nil, none }
	view, err := w.target.View(w.Context())
	w.must(err)
	defer view.Release()
	q.Schema = w.cfg.SchemaVersion
	if _, err := view.Search(w.Context(), q); !errors.Is(err, none) {
		w.Errorf("without the vector that was to come: %v", err)
	}
}

// mixed: the best by a mix are the same whether the query says that only those are wanted or not.
func (w *world) mixed(q search.Query) {
	w.Helper()
	q.K, q.Pool, q.Exact = 7, 7, false
	for _, lambda := range []float64{0.025, 0.5} {
		m := search.Mix{Lambda: lambda, Scale: 72, Half: 16, Need: 5}
		best := func(f search.Found) search.Found {
			score := func(h search.Hit) float64 { return m.Score(h.Cosine, h.BM25, h.Dims) }
			slices.SortFunc(f.Hits, func(a, b search.Hit) int {
				return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Ord, b.Ord))
			})
			return search.Found{Hits: f.Hits[:min(m.Need, len(f.Hits))]}
		}
		q.Mix = nil
		want := best(w.found(q))
		q.Mix = &m
		same(w, want, best(w.found(q)))
	}
}

// left holds what was left out to what the sides say.
func (w *world) left(q *search.Query, all, some search.Found) {
	w.Helper()
	in := map[string]search.Hit{}
	for _, h := range some.Hits {
		in[fmt.Sprint(h.ID, "/", h.Ord)] = h
	}
	for _, s := range []struct {
		name  string
		side  search.Side
		has   bool
		score func(search.Hit) float64
	}{
		{"dense", some.Dense, q.Vector != nil, func(h search.Hit) float64 { return h.Cosine }},
		{"lexical", some.Lexical, q.HasLexical(), func(h search.Hit) float64 { return h.BM25 }},
		{"dimensions", some.Dimensions, q.Dimensions != nil, func(h search.Hit) float64 { return h.Dims }},
	} {
		if !s.has {
			continue
		}
		if q.Exact && !s.side.Exact {
			w.Errorf("%s: asked to be exact: %+v", s.name, s.side)
		}
		for _, h := range all.Hits {
			got, ok := in[fmt.Sprint(h.ID, "/", h.Ord)]
			matches := s.name != "lexical" || h.BM25 > 0
			switch {
			case ok && got != h:
				w.Errorf("%s: scores depend on the depth: %+v and %+v", s.name, got, h)
			case !ok && matches && s.side.All:
				w.Errorf("%s: %+v was left out of all", s.name, h)
			case !ok && matches && s.side.Exact && s.score(h) > s.side.Floor:
				w.Errorf("%s: %+v was left out above %v", s.name, h, s.side.Floor)
			}
		}
	}
}

// drop: nothing is left of what was dropped, and whoever still has a view may use it.
func drop(w *world) {
	ctx := context.Background()
	w.fill(3)
	v, err := w.target.View(ctx)
	w.must(err)
	defer v.Release()
	w.must(w.target.Drop(ctx))
	if got := ids(w.foundIn(v, word("pump"))); got != "d001 d002 d003" {
		w.Errorf("a view from before: %q", got)
	}
	w.start()
	w.state(search.State{Schema: 3})
	w.wants("pump", "")
}

package index_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/condition"
	"quarry/internal/search"
)

// filterWorld is an index of several thousand parts in several files, large enough for summaries of its columns, beside the
// documents themselves.
type filterWorld struct {
	t    *testing.T
	rng  *rand.Rand
	cfg  index.Config
	x    *index.Index
	o    oracle
	seq  int64
	last int64 // number of the last document
}

// values returns random values of document level, frequent, rare and absent ones.
func (w *filterWorld) values() []filter.Value {
	r := w.rng
	out := []filter.Value{
		filter.Text([]string{"hr", "it", "hrx", "", "it", fmt.Sprint("rare ", r.IntN(400))}[r.IntN(6)]),
		filter.Int(2015 + r.Int64N(9)), filter.Real(float64(r.IntN(5)) / 2),
		filter.List(filter.TextList, filter.Text([]string{"x", "y", ""}[r.IntN(3)]), filter.Text(fmt.Sprint(r.IntN(300)))),
	}
	if r.IntN(20) == 0 {
		out[1], out[2] = filter.Int(r.Int64()-1<<62), filter.Real(r.NormFloat64())
	}
	for i := range out {
		if r.IntN(5) == 0 {
			out[i] = filter.Value{}
		}
	}
	return out
}

func (w *filterWorld) document() *index.Document {
	w.last++
	d := &index.Document{No: w.last, ID: fmt.Sprintf("d%d", w.last*37%10_007), Values: w.values()}
	for ord := range 1 + w.rng.IntN(3) {
		p := index.Part{Ord: ord, Lang: "eng", Stems: []string{"all"}, Values: make([]filter.Value, 10)}
		p.Values[4] = filter.Text([]string{"note", "rule", "hr"}[w.rng.IntN(3)])
		p.Values[5] = filter.List(filter.IntegerList, filter.Int(w.rng.Int64N(5)), filter.Int(w.rng.Int64N(2000)))
		p.Values[6+w.rng.IntN(4)] = filter.Value{}
		p.Values[8] = filter.Text("eng")
		if w.rng.IntN(3) > 0 {
			p.Values[6] = filter.Bool(w.rng.IntN(3) == 0)
		}
		if ord == 0 && w.rng.IntN(9) == 0 {
			p.Values[9] = filter.Bool(true)
		}
		d.Parts = append(d.Parts, p)
	}
	return d
}

// change applies random changes: new documents, or deletes and new values of old ones.
func (w *filterWorld) change(puts, deletes, updates int) {
	var out []index.Change
	next := func(c index.Change) {
		w.seq++
		c.Seq = w.seq
		out = append(out, c)
	}
	for range puts {
		d := w.document()
		w.o.docs[d.No] = d
		next(index.Change{Op: index.Put, No: d.No, Doc: d})
	}
	nos := slices.Sorted(maps.Keys(w.o.docs))
	for i, at := range w.rng.Perm(len(nos))[:deletes+updates] {
		no := nos[at]
		if i < deletes {
			delete(w.o.docs, no)
			next(index.Change{Op: index.Delete, No: no})
			continue
		}
		d := *w.o.docs[no]
		d.Values = w.values()
		w.o.docs[no] = &d
		next(index.Change{Op: index.Update, No: no, Doc: &index.Document{No: no, Values: d.Values}})
	}
	must(w.t, w.x.Apply(out))
}

func (w *filterWorld) open() {
	x, err := index.Open(w.cfg)
	must(w.t, err)
	x.SealAt(1000, 0)
	w.x = x
}

// filter returns a random filter.
func (w *filterWorld) filter() *filter.Filter {
	one := func() string {
		own := []string{
			fmt.Sprintf("doc.dept = 'rare %d'", w.rng.IntN(400)), fmt.Sprintf("doc.dept %s 'it'", []string{"<", ">=", "<>"}[w.rng.IntN(3)]),
			fmt.Sprintf("'%d' IN doc.tags", w.rng.IntN(300)), fmt.Sprintf("%d IN part.nums", w.rng.IntN(2000)),
			fmt.Sprintf("doc.year IN (2016, 2019, %d)", w.rng.IntN(9000)), fmt.Sprintf("doc.year < %d", 2014+w.rng.IntN(11)),
			fmt.Sprintf("doc.id = 'd%d'", w.rng.IntN(9000)), fmt.Sprintf("doc.score >= %v", w.rng.NormFloat64()),
			fmt.Sprintf("doc.year - doc.score > %d", 2014+w.rng.IntN(11)),
		}
		own = append(own, conditions...)
		return []string{"", "", "NOT "}[w.rng.IntN(3)] + own[w.rng.IntN(len(own))]
	}
	text := one()
	for range w.rng.IntN(4) {
		text = "(" + text + ")" + []string{" AND ", " AND ", " OR "}[w.rng.IntN(3)] + one()
	}
	f, err := filter.Parse(text, w.cfg.Schema, filter.Both)
	must(w.t, err)
	return f
}

// compare holds the parts that pass random filters to those that the filters themselves pass. Each is asked twice: the second
// time with results of conditions kept from the first.
func (w *filterWorld) compare(when string, filters int) {
	w.t.Helper()
	s := w.x.Snapshot()
	defer s.Release()
	all := w.o.entries()
	for range filters {
		f := w.filter()
		var want, got []string
		for _, e := range all {
			if f.Match(values{&w.o, e}) {
				want = append(want, e.key())
			}
		}
		slices.Sort(want)
		for round := range 2 {
			found, err := s.Search(w.t.Context(), search.Query{Terms: []string{"all"}, Filter: f.Text(), K: 1 << 30, Schema: w.cfg.SchemaVersion})
			must(w.t, err)
			got = nil
			for _, h := range found.Hits {
				got = append(got, fmt.Sprintf("%s/%d", h.ID, h.Ord))
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				w.t.Fatalf("%s, round %d: %s: %d parts pass, want %d", when, round, f.Text(), len(got), len(want))
			}
		}
	}
}

// TestFilters proves that after any changes every filter passes the parts that it says: with sets of values, zones, newer values
// over them, deleted rows, other attributes and results of conditions that are kept, whether they fit the budget or not.
func TestFilters(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	kept := condition.New(40_000)
	w := &filterWorld{t: t, rng: rand.New(rand.NewPCG(21, 7)), o: oracle{schema: schema, docs: map[int64]*index.Document{}},
		cfg: index.Config{Dir: filepath.Join(t.TempDir(), "index"), Epoch: 8, Encoder: "e", Schema: schema, Conditions: kept}}
	w.open()
	for range 8 {
		w.change(400, 0, 0)
		w.compare("growing", 4)
	}
	for range 6 {
		w.change(20, 60, 90)
		w.compare("changing", 15)
	}
	must(t, w.x.Close())
	if s := kept.Stats(); s.Entries != 0 || s.Bytes != 0 || s.Hits == 0 || s.Evicted == 0 {
		t.Fatalf("results of conditions after closing: %+v", s)
	}
	w.open()
	if w.x.Applied() != w.seq || w.x.Stats().MappedBytes == 0 {
		t.Fatalf("applied %d of %d, %+v", w.x.Applied(), w.seq, w.x.Stats())
	}
	w.compare("opened again", 40)
	w.change(0, 10, 50)
	w.compare("changed again", 20)

	// The attributes are replaced: the same text now means another thing.
	declared := slices.Clone(schema.Attributes()[:7])
	declared[1].Type, declared[2].Type = filter.RealNumber, filter.Integer
	other, err := filter.NewSchema(declared)
	must(t, err)
	r := w.x.Retype(other)
	for _, no := range slices.Sorted(maps.Keys(w.o.docs)) {
		d := w.o.docs[no]
		d.Values[1], d.Values[2] = filter.Real(2015.5+float64(no%7)), filter.Int(no%3)
		must(t, r.Add([]index.Document{*d}))
	}
	w.cfg.Schema, w.cfg.SchemaVersion, w.o.schema = other, 1, other
	must(t, r.Swap(1))
	w.compare("other attributes", 40)
	must(t, w.x.Close())
	if s := kept.Stats(); s.Entries != 0 {
		t.Fatalf("results of conditions after closing: %+v", s)
	}
}

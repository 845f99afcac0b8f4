package index_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/condition"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

const dim = 64

func newSchema(t testing.TB) *filter.Schema {
	t.Helper()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "dept", Type: filter.TextType},
		{Level: filter.Document, Name: "year", Type: filter.Integer},
		{Level: filter.Document, Name: "score", Type: filter.RealNumber},
		{Level: filter.Document, Name: "tags", Type: filter.TextList},
		{Level: filter.Part, Name: "kind", Type: filter.TextType},
		{Level: filter.Part, Name: "nums", Type: filter.IntegerList},
		{Level: filter.Part, Name: "open", Type: filter.Boolean},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var vocabulary = []string{"a", "ab", "abc", "b", "boat", "boats", "cat", "dog", "e", "fish", "zebra", "ö"}

// conditions are simple filters; random ones combine them.
var conditions = []string{
	"doc.dept = 'hr'", "doc.dept <> 'hr'", "doc.dept >= 'it'", "doc.dept < 'it'", "doc.dept > 'hr'", "doc.dept <= 'hrx'",
	"doc.dept IS NULL", "doc.year > 2020", "doc.year <= 2020.5", "doc.year IN (2019, 2021)", "doc.year % 2 = 0",
	"doc.score < 1", "doc.score = 0.5", "doc.score > doc.year - 2020", "'x' IN doc.tags", "'' IN doc.tags", "doc.tags IS NULL",
	"part.kind = 'note'", "part.kind IN ('note', 'rule', 'none')", "part.kind != 'rule'", "3 IN part.nums", "2.5 IN part.nums",
	"part.open", "part.open = false", "part.open <> true", "part.is_title = false", "part.is_title = true", "part.lang = 'eng'",
	"part.kind = doc.dept", "doc.id > 'd3'", "doc.id = 'd1'", "1 = 1", "1 = 2",
}

func drawFilter(t *rapid.T, s *filter.Schema) *filter.Filter {
	text := ""
	for i := range rapid.IntRange(0, 3).Draw(t, "conditions") {
		if i > 0 {
			text = "(" + text + ")" + rapid.SampledFrom([]string{" AND ", " OR "}).Draw(t, "connective")
		}
		if rapid.IntRange(0, 3).Draw(t, "not") == 0 {
			text += "NOT "
		}
		text += rapid.SampledFrom(conditions).Draw(t, "condition")
	}
	f, err := filter.Parse(text, s, filter.Both)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// drawVector draws a vector by its seed: few distinct ones, some of them sparse, so that there are ties.
func drawVector(t *rapid.T) []float32 {
	seed := rapid.Uint64Range(0, 40).Draw(t, "vector")
	rng, v := rand.New(rand.NewPCG(seed, 1)), make([]float32, dim)
	for i := range v[:1+seed%3*(dim-1)/2] {
		v[i] = float32(rng.IntN(7) - 3)
	}
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	if s == 0 {
		v[0], s = 1, 1
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(s))
	}
	return v
}

func maybe(t *rapid.T, v filter.Value) filter.Value {
	if rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
		return filter.Value{}
	}
	return v
}

func drawWords(t *rapid.T, label string, most int) []string {
	return rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, most).Draw(t, label)
}

func drawPart(t *rapid.T, ord int) index.Part {
	packed, err := vector.Pack(drawVector(t))
	if err != nil {
		t.Fatal(err)
	}
	p := index.Part{Ord: ord, Vector: packed, Stems: drawWords(t, "text", 6), Dimensions: []float32{float32(ord) / 3}}
	p.Leads = rapid.IntRange(0, 3).Draw(t, "leads") == 0
	if rapid.Bool().Draw(t, "headed") {
		p.Heading = drawWords(t, "heading", 2)
	}
	for i, w := range p.Stems {
		p.Words = append(p.Words, analysis.Term{Text: w, Pos: int32(i)})
	}
	nums := make([]filter.Value, rapid.IntRange(0, 2).Draw(t, "nums"))
	for i := range nums {
		nums[i] = filter.Int(int64(rapid.IntRange(2, 4).Draw(t, "num")))
	}
	p.Values = []filter.Value{
		{}, {}, {}, {},
		maybe(t, filter.Text(rapid.SampledFrom([]string{"note", "rule", "hr"}).Draw(t, "kind"))),
		maybe(t, filter.List(filter.IntegerList, nums...)),
		maybe(t, filter.Bool(rapid.Bool().Draw(t, "open"))),
		{},
		maybe(t, filter.Text("eng")),
		maybe(t, filter.Bool(true)),
	}
	return p
}

func drawDocument(t *rapid.T, no int64) *index.Document {
	d := &index.Document{No: no, ID: fmt.Sprintf("d%d", no*37%1009), Values: []filter.Value{
		maybe(t, filter.Text(rapid.SampledFrom([]string{"hr", "it", "hrx", ""}).Draw(t, "dept"))),
		maybe(t, filter.Int(int64(rapid.IntRange(2018, 2022).Draw(t, "year")))),
		maybe(t, filter.Real(float64(rapid.IntRange(0, 4).Draw(t, "score"))/2)),
		maybe(t, filter.List(filter.TextList, filter.Text(rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "tag")))),
	}}
	for ord := range rapid.IntRange(0, 4).Draw(t, "parts") {
		d.Parts = append(d.Parts, drawPart(t, ord))
	}
	return d
}

func drawQuery(t *rapid.T, s *filter.Schema) search.Query {
	q := search.Query{K: rapid.SampledFrom([]int{1, 2, 5, 1000}).Draw(t, "k"), Filter: drawFilter(t, s).Text(), Dimensions: []float64{rapid.SampledFrom([]float64{0, 0.5, -2}).Draw(t, "weight")}}
	q.Headings = rapid.SampledFrom([]search.Headings{search.WithHeadings, search.NoHeadings, search.OnlyHeadings}).Draw(t, "headings")
	if rapid.Bool().Draw(t, "dense") {
		q.Vector = drawVector(t)
	}
	if q.Vector == nil || rapid.Bool().Draw(t, "lexical") {
		q.Terms = drawWords(t, "terms", 4)
		if rapid.IntRange(0, 2).Draw(t, "with phrases") == 0 {
			for range rapid.IntRange(1, 2).Draw(t, "phrases") {
				q.Phrases = append(q.Phrases, append(drawWords(t, "phrase", 2), rapid.SampledFrom(vocabulary).Draw(t, "last")))
			}
			q.PhrasesRequired = rapid.Bool().Draw(t, "required")
		}
		if rapid.IntRange(0, 2).Draw(t, "with prefix") == 0 {
			q.Prefixes = []string{rapid.SampledFrom([]string{"a", "boa", "zz", "b"}).Draw(t, "prefix")}
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "with exclusion") == 0 {
		q.Exclude = drawWords(t, "exclude", 2)
		q.ExcludePrefixes = []string{rapid.SampledFrom([]string{"ab", "zz", "boat"}).Draw(t, "exclude prefix")}
		q.ExcludePhrases = [][]string{append(drawWords(t, "exclude phrase", 2), rapid.SampledFrom(vocabulary).Draw(t, "exclude last"))}
	}
	return q
}

// turned gives the attributes of s in the reverse order.
func turned(t testing.TB, s *filter.Schema) *filter.Schema {
	t.Helper()
	declared := slices.Clone(s.Attributes()[:7])
	slices.Reverse(declared)
	out, err := filter.NewSchema(declared)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// machine drives an index and a map alike. Documents keep their values in the order of schemas[0]; the index has those
// of schemas[version%2].
type machine struct {
	t       *testing.T
	schemas [2]*filter.Schema
	cfg     index.Config
	x       *index.Index
	o       oracle
	log     []index.Change // all changes so far
	nextNo  int64
	dirs    int
}

func (m *machine) check(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) schema() *filter.Schema { return m.schemas[m.cfg.SchemaVersion%2] }

// under gives the values of d in the order of the index's attributes.
func (m *machine) under(d *index.Document) *index.Document {
	if d == nil {
		return nil
	}
	out := *d
	out.Values = m.reorder(d.Values)
	out.Parts = slices.Clone(d.Parts)
	for i := range out.Parts {
		out.Parts[i].Values = m.reorder(out.Parts[i].Values)
	}
	return &out
}

func (m *machine) reorder(vs []filter.Value) []filter.Value {
	out := make([]filter.Value, len(m.schema().Attributes()))
	for i, a := range m.schema().Attributes() {
		if at := m.ordinal(a); at < len(vs) {
			out[i] = vs[at]
		}
	}
	return out
}

func (m *machine) ordinal(a filter.Attribute) int {
	i, _ := m.schemas[0].Find(a.Level, a.Name)
	return i
}

func (m *machine) all(changes []index.Change) []index.Change {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Doc = m.under(out[i].Doc)
	}
	return out
}

// switchTo gives the corpus the other attributes, as of now.
func (m *machine) switchSchema() {
	m.cfg.SchemaVersion++
	m.cfg.Schema = m.schema()
	m.o.schema = m.cfg.Schema
}

// add feeds the values of documents to r, some of them, or all.
func (m *machine) add(t *rapid.T, r *index.Retyping, all bool) {
	var docs []index.Document
	for _, no := range slices.Sorted(maps.Keys(m.o.docs)) {
		if !all && no%2 == 0 {
			continue
		}
		if docs = append(docs, *m.under(m.o.docs[no])); len(docs) == 5 {
			m.check(t, r.Add(docs))
			docs = nil
		}
	}
	m.check(t, r.Add(docs))
}

// retype changes the attributes of the running index, with writes meanwhile.
func (m *machine) retype(t *rapid.T) {
	old := *m
	m.switchSchema()
	r := m.x.Retype(m.cfg.Schema)
	m.add(t, r, rapid.Bool().Draw(t, "all at once"))
	if rapid.Bool().Draw(t, "prepared") {
		m.check(t, r.Prepare())
	}
	if rapid.Bool().Draw(t, "written meanwhile") {
		old.apply(t, old.change(t, 0))
		m.log, m.nextNo = old.log, old.nextNo
	}
	if _, err := m.search(drawQuery(t, m.schemas[0])); err != nil && !errors.Is(err, search.ErrSchema) {
		t.Fatal(err)
	}
	m.add(t, r, true)
	m.check(t, r.Swap(m.cfg.SchemaVersion))
}

func (m *machine) search(q search.Query) (search.Found, error) {
	s := m.x.Snapshot()
	defer s.Release()
	q.Schema = m.cfg.SchemaVersion
	return s.Search(context.Background(), q)
}

// apply commits changes to the log and the model, and shows them to the index.
func (m *machine) apply(t *rapid.T, changes ...index.Change) {
	for _, c := range changes {
		m.log = append(m.log, c)
		switch c.Op {
		case index.Put:
			delete(m.o.docs, c.No)
			delete(m.o.docs, c.Old)
			if c.Doc != nil {
				m.o.docs[c.No] = c.Doc
			}
		case index.Update:
			if old := m.o.docs[c.No]; old != nil && c.Doc != nil {
				d := *old
				d.Values = c.Doc.Values
				m.o.docs[c.No] = &d
			}
		case index.Delete:
			delete(m.o.docs, c.No)
		case index.Reset:
			clear(m.o.docs)
		}
	}
	m.check(t, m.x.Apply(m.all(changes)))
}

func (m *machine) change(t *rapid.T, i int) index.Change {
	c := index.Change{Seq: int64(len(m.log) + i + 1), Op: index.Put}
	known := slices.Sorted(maps.Keys(m.o.docs))
	switch rapid.IntRange(0, 9).Draw(t, "op") {
	case 0, 1:
		if len(known) > 0 {
			c.Op, c.No = index.Delete, rapid.SampledFrom(known).Draw(t, "victim")
			return c
		}
	case 2:
		if len(known) > 0 {
			c.No = rapid.SampledFrom(known).Draw(t, "replaced")
			c.Doc = drawDocument(t, c.No)
			return c
		}
	case 3:
		if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
			c.Op = index.Reset
			return c
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "update") == 0 {
		c.Op, c.No = index.Update, rapid.Int64Range(1, m.nextNo+1).Draw(t, "updated") // there, gone, or not there yet
		if rapid.IntRange(0, 9).Draw(t, "gone") > 0 {
			c.Doc = &index.Document{No: c.No, Values: drawDocument(t, c.No).Values}
		}
		return c
	}
	m.nextNo++
	c.No = m.nextNo
	if rapid.IntRange(0, 2).Draw(t, "in place") == 0 {
		c.Old = rapid.Int64Range(1, m.nextNo).Draw(t, "of") // there, gone, of this batch, or itself
	}
	if rapid.IntRange(0, 9).Draw(t, "gone") > 0 {
		c.Doc = drawDocument(t, c.No)
	}
	return c
}

// catchUp applies what the index has not seen, as its caller does after Open.
func (m *machine) catchUp(t *rapid.T) {
	from := m.x.Applied()
	if m.x.SchemaVersion() != m.cfg.SchemaVersion {
		r := m.x.Retype(m.cfg.Schema)
		m.add(t, r, true)
		m.check(t, r.Swap(m.cfg.SchemaVersion))
	}
	m.check(t, m.x.Apply(m.all(m.log[from:])))
}

func (m *machine) reopen(t *rapid.T, dir string) {
	m.cfg.Dir = dir
	x, err := index.Open(m.cfg)
	m.check(t, err)
	x.SealAt(12, 0)
	x.ListsFrom(16, 4)
	m.x = x
	m.catchUp(t)
}

// merge merges what is due, or what would be at rest, while documents are written, deleted, given other values and saved, and
// attributes are replaced; or ends a merge half-way.
func (m *machine) merge(t *rapid.T) {
	rest := rapid.Bool().Draw(t, "at rest")
	at, blocks, stop := rapid.IntRange(1, 30).Draw(t, "block"), 0, errors.New("stop")
	what := rapid.SampledFrom([]string{"", "apply", "apply", "save", "save", "retype", "stop"}).Draw(t, "meanwhile")
	done, err := m.x.Merge(func() error {
		if blocks++; blocks != at {
			return nil
		}
		switch what {
		case "apply", "save":
			for range rapid.IntRange(1, 3).Draw(t, "batches") {
				m.apply(t, m.change(t, 0))
			}
			if what == "save" {
				m.check(t, m.x.Flush())
			}
		case "retype":
			m.retype(t)
		case "stop":
			return stop
		}
		return nil
	}, rest)
	if err != nil && (what != "stop" || !errors.Is(err, stop)) {
		t.Fatal(err)
	}
	if s := m.x.Stats(); err == nil && !done && rest && s.Segments > 1 {
		t.Fatalf("nothing is due at rest: %+v", s)
	}
}

// fresh builds an index of the model's documents in one segment.
func (m *machine) fresh(t *rapid.T) *index.Index {
	cfg := m.cfg
	cfg.Dir, cfg.Conditions = "", nil
	x, err := index.Open(cfg)
	m.check(t, err)
	var docs []index.Document
	for _, no := range slices.Sorted(maps.Keys(m.o.docs)) {
		docs = append(docs, *m.under(m.o.docs[no]))
	}
	m.check(t, x.Replace(int64(len(m.log)), func() ([]index.Document, error) {
		out := docs
		docs = nil
		return out, nil
	}))
	return x
}

func sortedHits(t tester, x *index.Index, q search.Query) []search.Hit {
	t.Helper()
	s := x.Snapshot()
	defer s.Release()
	found, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	hits := found.Hits
	slices.SortFunc(hits, func(a, b search.Hit) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Ord, b.Ord)) })
	return hits
}

func copyDir(t *rapid.T, from, to string) {
	entries, err := os.ReadDir(from)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Under random writes, deletes, replacements by number and of one number by another, resets, flushes, restarts and crashes every search gives what the
// documents themselves give, and bit for bit what an index built at once of the same documents gives.
func TestModel(t *testing.T) {
	t.Parallel()
	schema, root := newSchema(t), t.TempDir()
	other := turned(t, schema)
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		m := &machine{t: t, schemas: [2]*filter.Schema{schema, other}, o: oracle{schema: schema, docs: map[int64]*index.Document{}}, cfg: index.Config{
			Dir: filepath.Join(root, fmt.Sprint(runs)), Epoch: 3, Encoder: "e", Schema: schema, Dim: dim, Dimensions: 1, Conditions: condition.New(4000),
			Notify: func(event string, err error) { rt.Fatalf("%s: %v", event, err) },
		}}
		m.o.ordinal = m.ordinal
		m.reopen(rt, m.cfg.Dir)
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				var cs []index.Change
				for i := range rapid.IntRange(1, 12).Draw(rt, "changes") {
					cs = append(cs, m.change(rt, i))
				}
				m.apply(rt, cs...)
			},
			"flush": func(rt *rapid.T) { m.check(rt, m.x.Flush()) },
			"merge": m.merge,
			"restart": func(rt *rapid.T) {
				m.check(rt, m.x.Close())
				m.reopen(rt, m.cfg.Dir)
			},
			"crash": func(rt *rapid.T) {
				m.dirs++
				to := filepath.Join(root, fmt.Sprintf("%d-%d", runs, m.dirs))
				copyDir(rt, m.cfg.Dir, to)
				m.check(rt, m.x.Close())
				m.reopen(rt, to)
			},
			"retype": m.retype,
			"crash between": func(rt *rapid.T) { // the attributes have changed, and the index does not know
				m.dirs++
				to := filepath.Join(root, fmt.Sprintf("%d-%d", runs, m.dirs))
				copyDir(rt, m.cfg.Dir, to)
				m.check(rt, m.x.Close())
				m.switchSchema()
				m.reopen(rt, to)
			},
			"": func(rt *rapid.T) {
				if got := m.x.Applied(); got != int64(len(m.log)) {
					rt.Fatalf("applied %d of %d", got, len(m.log))
				}
				q := drawQuery(rt, m.schema())
				q.Schema = m.cfg.SchemaVersion
				s := m.x.Snapshot()
				m.o.compare(rt, s, q)
				pool := q
				pool.Pool = rapid.SampledFrom([]int{1, 5, 200}).Draw(rt, "pool")
				m.o.compareScores(rt, s, pool)
				pool.Exact = true
				m.o.compare(rt, s, pool)
				s.Release()
				f := m.fresh(rt)
				if got, want := sortedHits(rt, m.x, q), sortedHits(rt, f, q); !slices.Equal(got, want) {
					rt.Fatalf("query %+v\ngot  %+v\nwant %+v", q, got, want)
				}
			},
		})
		m.check(rt, m.x.Close())
		if s := m.cfg.Conditions.Stats(); s.Entries != 0 || s.Bytes != 0 {
			rt.Fatalf("results of conditions outlive their segments: %+v", s)
		}
	})
}

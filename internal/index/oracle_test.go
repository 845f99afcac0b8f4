package index_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/postings"
	"quarry/internal/search"
	"quarry/internal/text/analysis"
)

// tester is a *testing.T or a *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// oracle answers queries from the documents themselves, in the most direct way there is.
type oracle struct {
	schema *filter.Schema

	// The filter that was asked for last, as parsing costs more than a document.
	parsed    *filter.Filter
	parsedFor *filter.Schema

	docs map[int64]*index.Document
	// ordinal gives the place of an attribute's values in docs where it is not that of schema.
	ordinal func(filter.Attribute) int
}

// entry is a part with what the oracle makes of it.
type entry struct {
	doc    *index.Document
	part   *index.Part
	cosine float64
	bm25   float64
}

func (e *entry) key() string { return fmt.Sprintf("%s/%d", e.doc.ID, e.part.Ord) }

type values struct {
	o *oracle
	e *entry
}

func (v values) Value(i int) filter.Value {
	a := v.o.schema.Attributes()[i]
	vs := v.e.part.Values
	if a.Level == filter.Document {
		if a.Name == "id" {
			return filter.Text(v.e.doc.ID)
		}
		vs = v.e.doc.Values
	}
	if v.o.ordinal != nil {
		i = v.o.ordinal(a)
	}
	if i < len(vs) {
		return vs[i]
	}
	return filter.Value{}
}

func (o *oracle) entries() []*entry {
	var out []*entry
	for _, no := range slices.Sorted(maps.Keys(o.docs)) {
		d := o.docs[no]
		for i := range d.Parts {
			out = append(out, &entry{doc: d, part: &d.Parts[i]})
		}
	}
	return out
}

// frequency counts a scoring term of a part.
func frequency(p *index.Part, stem string) int {
	n := 0
	for _, s := range p.Stems {
		if s == stem {
			n++
		}
	}
	for _, s := range p.Heading {
		if s == stem {
			n += 2
		}
	}
	return n
}

func phraseCount(p *index.Part, words []string) int {
	n := 0
	for _, w := range p.Words {
		all := true
		for i, x := range words {
			all = all && slices.Contains(p.Words, analysis.Term{Text: x, Pos: w.Pos + int32(i)})
		}
		if all && w.Text == words[0] {
			n++
		}
	}
	return n
}

func hasWord(p *index.Part, test func(string) bool) bool {
	return slices.ContainsFunc(p.Words, func(w analysis.Term) bool { return test(w.Text) })
}

// score sets the lexical score of all entries, in float64, from the definition.
func (o *oracle) score(all []*entry, q search.Query) {
	var counts []func(p *index.Part) int
	for _, t := range q.Terms {
		counts = append(counts, func(p *index.Part) int { return frequency(p, t) })
	}
	for _, ph := range q.Phrases {
		counts = append(counts, func(p *index.Part) int { return phraseCount(p, ph) })
	}
	for _, pre := range q.Prefixes {
		counts = append(counts, func(p *index.Part) int {
			n := 0
			for _, w := range p.Words {
				if strings.HasPrefix(w.Text, pre) {
					n++
				}
			}
			return n
		})
	}
	total := 0.0
	for _, e := range all {
		total += float64(len(e.part.Stems) + 2*len(e.part.Heading))
	}
	average := total / float64(len(all))
	for _, count := range counts {
		df := 0.0
		for _, e := range all {
			if count(e.part) > 0 {
				df++
			}
		}
		idf := math.Log(1 + (float64(len(all))-df+0.5)/(df+0.5))
		for _, e := range all {
			if f := float64(count(e.part)); f > 0 {
				length := float64(postings.ByteLength(postings.LengthByte(len(e.part.Stems) + 2*len(e.part.Heading))))
				e.bm25 += idf * f * 2.2 / (f + 1.2*(0.25+0.75*length/average))
			}
		}
	}
}

// filter returns a filter for the present attributes.
func (o *oracle) filter(text string) *filter.Filter {
	if o.parsed == nil || o.parsed.Text() != text || o.parsedFor != o.schema {
		f, err := filter.Parse(text, o.schema, filter.Both)
		if err != nil {
			panic(err) // conditions of the tests
		}
		o.parsed, o.parsedFor = f, o.schema
	}
	return o.parsed
}

// passes reports whether an entry may be a hit.
func (o *oracle) passes(e *entry, q search.Query) bool {
	if !o.filter(q.Filter).Match(values{o, e}) {
		return false
	}
	if q.Headings == search.NoHeadings && e.part.Leads || q.Headings == search.OnlyHeadings && !e.part.Leads {
		return false
	}
	for _, w := range q.Exclude {
		if hasWord(e.part, func(s string) bool { return s == w }) {
			return false
		}
	}
	for _, w := range q.ExcludePrefixes {
		if hasWord(e.part, func(s string) bool { return strings.HasPrefix(s, w) }) {
			return false
		}
	}
	for _, ph := range q.ExcludePhrases {
		if phraseCount(e.part, ph) > 0 {
			return false
		}
	}
	for _, ph := range q.Phrases {
		if q.PhrasesRequired && phraseCount(e.part, ph) == 0 {
			return false
		}
	}
	return true
}

func (e *entry) similarity(v []float32) float64 {
	var dot, a, b float64
	for i, x := range v {
		u := float64(int16(binary.LittleEndian.Uint16(e.part.Vector[4+2*i:]))) // behind the scale, which a cosine does without
		dot += float64(x) * u
		a += float64(x) * float64(x)
		b += u * u
	}
	return dot / math.Sqrt(a*b)
}

// tolerance of cosines: rows are rounded to 16 bits once more after rotation.
const tolerance = 2e-4

// passing returns the parts that q may find, with their scores.
func (o *oracle) passing(q search.Query) (passing []*entry) {
	all := o.entries()
	o.score(all, q)
	for _, e := range all {
		if o.passes(e, q) {
			passing = append(passing, e)
			if q.Vector != nil {
				e.cosine = e.similarity(q.Vector)
			}
		}
	}
	return passing
}

// compareHits checks that each hit is one of the parts that pass, once, with its scores, and returns the hits by their keys.
func compareHits(t tester, hits []search.Hit, passing []*entry, q search.Query) map[string]search.Hit {
	t.Helper()
	byKey := map[string]*entry{}
	for _, e := range passing {
		byKey[e.key()] = e
	}
	got := map[string]search.Hit{}
	for _, h := range hits {
		e := byKey[fmt.Sprintf("%s/%d", h.ID, h.Ord)]
		if e == nil {
			t.Fatalf("hit %+v does not pass or does not exist\n%+v", h, q)
		}
		if h.No != e.doc.No || math.Abs(h.BM25-e.bm25) > 1e-9*(1+e.bm25) || math.Abs(h.Cosine-e.cosine) > tolerance {
			t.Fatalf("hit %+v, want No %d BM25 %v cosine %v", h, e.doc.No, e.bm25, e.cosine)
		}
		if _, twice := got[e.key()]; twice {
			t.Fatalf("hit %+v twice", h)
		}
		got[e.key()] = h
	}
	return got
}

// compareScores holds the answer to a query that is not exact to the oracle: its hits pass and have their scores, and the
// dense side finds as many as it should.
func (o *oracle) compareScores(t tester, s *index.Snapshot, q search.Query) {
	t.Helper()
	found, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	passing := o.passing(q)
	compareHits(t, found.Hits, passing, q)
	want := q.K
	if slices.ContainsFunc(found.Plan, func(s search.Step) bool { return s.Way != "" && s.Way != search.WayScan }) {
		want = q.Pool
		if found.Dense.Exact != found.Dense.All {
			t.Fatalf("dense side %+v of %+v", found.Dense, found.Plan)
		}
	}
	if want = min(want, len(passing)); q.Vector != nil && len(found.Hits) < want {
		t.Fatalf("%d hits, want %d of %d that pass\n%+v", len(found.Hits), want, len(passing), found.Plan)
	}
}

// compare holds a search to the oracle. On the lexical side the K best must be the same parts, in their scores up to
// float64 rounding; on the dense side the same up to the rounding of vectors.
func (o *oracle) compare(t tester, s *index.Snapshot, q search.Query) {
	t.Helper()
	found, err := s.Search(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	passing := o.passing(q)
	got := compareHits(t, found.Hits, passing, q)
	wanted := o.compareSides(t, passing, got, q)
	for key := range got {
		if !wanted[key] {
			t.Fatalf("hit %s is on neither side", key)
		}
	}
	compareFloors(t, &found, passing, got, q)
}

// compareFloors checks what each side says of the parts that it left out, and that the plan counts all that pass.
func compareFloors(t tester, found *search.Found, passing []*entry, got map[string]search.Hit, q search.Query) {
	t.Helper()
	matches := func(e *entry) bool { return q.Vector != nil || e.bm25 > 0 }
	for _, e := range passing {
		_, ok := got[e.key()]
		for _, s := range []struct {
			name    string
			side    search.Side
			has     bool // the part belongs to this side
			score   float64
			rounded float64
		}{
			{"dense", found.Dense, q.Vector != nil, e.cosine, tolerance},
			{"lexical", found.Lexical, q.HasLexical() && e.bm25 > 0, e.bm25, 1e-9 * (1 + e.bm25)},
			{"dimensions", found.Dimensions, len(q.Dimensions) > 0 && q.Dimensions[0] != 0 && matches(e), e.weighed(q), 1e-9},
		} {
			if !ok && s.has && (s.side.All || s.score > s.side.Floor+s.rounded) {
				t.Fatalf("%s: %s with %v was left out beside %+v", s.name, e.key(), s.score, s.side)
			}
			if s.has && !s.side.Exact {
				t.Fatalf("%s: not exact: %+v", s.name, s.side)
			}
		}
	}
	n := 0
	for _, step := range found.Plan {
		n += step.Passing
		if step.Passing > step.Rows || step.Settled > step.Passing || (step.Way == search.WayScan) != (q.Vector != nil) {
			t.Fatalf("step %+v", step)
		}
	}
	if n != len(passing) {
		t.Fatalf("%d rows pass by the plan, want %d: %+v", n, len(passing), found.Plan)
	}
}

// weighed returns the dimensions of a part as q weighs them.
func (e *entry) weighed(q search.Query) float64 {
	if len(q.Dimensions) == 0 {
		return 0
	}
	return q.Dimensions[0] * float64(e.part.Dimensions[0])
}

// compareSides checks that the best of each side are there, and gives all that may be.
func (o *oracle) compareSides(t tester, passing []*entry, got map[string]search.Hit, q search.Query) map[string]bool {
	t.Helper()
	may := map[string]bool{}
	side := func(name string, slack float64, score func(*entry) float64, all []*entry) {
		slices.SortFunc(all, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.doc.ID, b.doc.ID), cmp.Compare(a.part.Ord, b.part.Ord))
		})
		for i, e := range all {
			floor := score(all[min(q.K, len(all))-1])
			sure := i < q.K && score(e) > floor+slack || i < q.K && i == len(all)-1
			if i+1 < len(all) && i < q.K && q.K >= len(all) {
				sure = true
			}
			if _, ok := got[e.key()]; sure && !ok {
				t.Fatalf("%s: %s with %v is missing, the last of %d has %v", name, e.key(), score(e), q.K, floor)
			}
			if score(e) >= floor-slack {
				may[e.key()] = true
			}
		}
	}
	if q.Vector != nil {
		side("dense", tolerance, func(e *entry) float64 { return e.cosine }, slices.Clone(passing))
	}
	if len(q.Terms)+len(q.Phrases)+len(q.Prefixes) > 0 {
		matching := slices.DeleteFunc(slices.Clone(passing), func(e *entry) bool { return e.bm25 <= 0 })
		side("lexical", 1e-9, func(e *entry) float64 { return e.bm25 }, matching)
	}
	if len(q.Dimensions) > 0 && q.Dimensions[0] != 0 {
		weighed := slices.DeleteFunc(slices.Clone(passing), func(e *entry) bool { return q.Vector == nil && e.bm25 <= 0 })
		side("dimensions", 1e-9, func(e *entry) float64 { return e.weighed(q) }, weighed)
	}
	return may
}

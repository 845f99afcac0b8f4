package metaquery_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/fault"
	"quarry/internal/text/fuzzy"
)

// memory is a corpus in memory: documents with their parts. gone are documents deleted between the two reads.
type memory struct {
	docs []document.Document
	gone map[int64]bool
	fail error
}

func (m *memory) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	if keys[0] != "c" {
		return nil, fault.NotFound("corpus_not_found", keys[0], "no corpus")
	}
	return []corpus.Corpus{{No: 1, Key: "c", Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer"}, {Name: "kind", Level: "part", Type: "text"},
	}}}, nil
}

func (m *memory) Metadata(ctx context.Context, _ int64, parts bool, visit func(metaquery.Row) error) error {
	shared := make([]byte, 0, 1<<16) // rows are valid until visit returns
	for _, d := range m.docs {
		rows := []document.Part{{}}
		if parts {
			rows = d.Parts
		}
		for _, p := range rows {
			shared = append(append(append(shared[:0], d.ID...), d.Metadata...), p.Metadata...)
			n := len(d.ID) + len(d.Metadata)
			r := metaquery.Row{No: d.No, ID: shared[:len(d.ID)], Metadata: shared[len(d.ID):n], Ord: p.Ord}
			if parts {
				r.Part = shared[n:]
			}
			if err := cmp.Or(visit(r), ctx.Err()); err != nil {
				return err
			}
			clear(shared)
		}
	}
	return m.fail
}

func (m *memory) Found(_ context.Context, _ int64, nos []int64) ([]document.Document, error) {
	var out []document.Document
	for _, d := range m.docs {
		if slices.Contains(nos, d.No) && !m.gone[d.No] {
			d.Parts = nil
			out = append(out, d)
		}
	}
	return out, nil
}

func object(t interface{ Fatal(...any) }, v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func ask(name, text string) fuzzy.Field {
	return fuzzy.Field{Name: name, Text: text, Weight: 1, Fuzzy: true, Prefix: 3}
}

func run(t testing.TB, m *memory, q metaquery.Query) metaquery.Answer {
	t.Helper()
	q.Corpus = "c"
	got, err := metaquery.New(m, m).Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestAgainstSorting proves order, ties, counts, pages and both levels against scoring everything and sorting it.
func TestAgainstSorting(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"plan", "plane", "pump", "guide", "x"})
	rapid.Check(t, func(rt *rapid.T) {
		m := &memory{}
		for i := range rapid.IntRange(0, 40).Draw(rt, "docs") {
			d := document.Document{No: int64(i + 1), ID: fmt.Sprint("d", (i*7)%41), Metadata: object(rt, map[string]any{
				"title": word.Draw(rt, "title"), "year": rapid.IntRange(2000, 2003).Draw(rt, "year"),
			})}
			for ord := range rapid.IntRange(0, 4).Draw(rt, "parts") {
				d.Parts = append(d.Parts, document.Part{Ord: ord, Metadata: object(rt, map[string]any{
					"title": word.Draw(rt, "part title"), "kind": rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind"),
				})})
			}
			m.docs = append(m.docs, d)
		}
		q := metaquery.Query{
			Corpus: "c", Parts: rapid.Bool().Draw(rt, "level part"), Fields: []fuzzy.Field{ask("title", word.Draw(rt, "asked"))},
			Limit: rapid.IntRange(1, 9).Draw(rt, "limit"), Offset: rapid.IntRange(0, 9).Draw(rt, "offset"),
		}
		which := rapid.IntRange(0, 2).Draw(rt, "filter")
		q.Filter = []string{"", "doc.year >= 2002", "doc.year < 2003 AND part.kind = 'a'"}[which]
		passes := func(year int, kind string) bool {
			return which == 0 || which == 1 && year >= 2002 || which == 2 && year < 2003 && kind == "a"
		}
		type entry struct {
			id    string
			score float64
			ord   int
		}
		var want []entry
		scorer := fuzzy.Compile(q.Fields).Scorer()
		for _, d := range m.docs {
			var about struct{ Year int }
			if err := json.Unmarshal(d.Metadata, &about); err != nil {
				rt.Fatal(err)
			}
			any := which != 2 && passes(about.Year, "")
			for _, p := range d.Parts {
				var of struct{ Kind string }
				if err := json.Unmarshal(p.Metadata, &of); err != nil {
					rt.Fatal(err)
				}
				ok := passes(about.Year, of.Kind)
				any = any || ok
				if score := scorer.Score(p.Metadata); q.Parts && ok && score > 0 {
					want = append(want, entry{d.ID, score, p.Ord})
				}
			}
			if score := scorer.Score(d.Metadata); !q.Parts && any && score > 0 {
				want = append(want, entry{d.ID, score, 0})
			}
		}
		slices.SortFunc(want, func(a, b entry) int {
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id), cmp.Compare(a.ord, b.ord))
		})
		got, err := metaquery.New(m, m).Run(context.Background(), q)
		if err != nil {
			rt.Fatal(err)
		}
		page := want[min(q.Offset, len(want)):]
		page = page[:min(q.Limit, len(page))]
		if got.Total != len(want) || len(got.Hits) != len(page) {
			rt.Fatalf("%d hits of %d, want %d of %d", len(got.Hits), got.Total, len(page), len(want))
		}
		for i, h := range got.Hits {
			if h.DocumentID != page[i].id || h.Score != page[i].score {
				rt.Errorf("hit %d is %s %v, want %s %v", i, h.DocumentID, h.Score, page[i].id, page[i].score)
			}
		}
	})
}

// TestBatches proves that nothing is lost or torn where rows fill several batches, by number and by size, and that a
// document's parts stay together.
func TestBatches(t *testing.T) {
	t.Parallel()
	m := &memory{}
	for i := range 1500 {
		d := document.Document{No: int64(i + 1), ID: fmt.Sprintf("d%04d", i), Metadata: object(t, map[string]any{"title": "plan", "pad": strings.Repeat("x", i%700)})}
		parts := 1
		if i == 300 {
			parts = 1000
		}
		for ord := range parts {
			kind := "other"
			if ord == parts-1 {
				kind = "last"
			}
			d.Parts = append(d.Parts, document.Part{Ord: ord, Metadata: object(t, map[string]any{"kind": kind})})
		}
		m.docs = append(m.docs, d)
	}
	got := run(t, m, metaquery.Query{Fields: []fuzzy.Field{ask("title", "plan")}, Filter: "part.kind = 'last'", Limit: 2, Offset: 299})
	if got.Total != 1500 || len(got.Hits) != 2 || got.Hits[1].DocumentID != "d0300" || string(got.Hits[1].Metadata) != string(m.docs[300].Metadata) {
		t.Errorf("%d in all, %d hits, the second %.80v; want 1500, and d0300", got.Total, len(got.Hits), got.Hits)
	}
	if got := run(t, m, metaquery.Query{Parts: true, Fields: []fuzzy.Field{ask("kind", "other")}, Limit: 1, Offset: 998}); got.Total != 999 || len(got.Hits) != 1 {
		t.Errorf("%d parts, %d on the last page; want 999 and 1", got.Total, len(got.Hits))
	}
}

// TestBuiltins proves that filters see doc.id and what parts say of themselves.
func TestBuiltins(t *testing.T) {
	t.Parallel()
	m := &memory{docs: []document.Document{
		{No: 1, ID: "one", Metadata: object(t, map[string]any{"t": "x", "id": "two"}), Parts: []document.Part{{Metadata: object(t, map[string]any{"lang": "eng", "is_title": true})}}},
		{No: 2, ID: "two", Metadata: object(t, map[string]any{"t": "x"}), Parts: []document.Part{{Metadata: object(t, map[string]any{"lang": "deu"})}}},
	}}
	for _, c := range []struct {
		filter string
		want   []string
	}{
		{"doc.id = 'two'", []string{"two"}},
		{"part.lang = 'eng'", []string{"one"}},
		{"part.is_title <> true", []string{"two"}},
		{"doc.id <> 'two' OR part.lang = 'deu'", []string{"one", "two"}},
		{"doc.id = 'one' AND part.lang = 'deu'", nil},
	} {
		var got []string
		for _, h := range run(t, m, metaquery.Query{Fields: []fuzzy.Field{ask("t", "x")}, Filter: c.filter, Limit: 10}).Hits {
			got = append(got, h.DocumentID)
		}
		if diff := gocmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got): %s", c.filter, diff)
		}
	}
}

// TestDeletedMeanwhile proves that a document that goes between the pass and the page is left out of the page.
func TestDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	m := &memory{gone: map[int64]bool{1: true}, docs: []document.Document{
		{No: 1, ID: "a", Metadata: object(t, map[string]any{"t": "x"})}, {No: 2, ID: "b", Metadata: object(t, map[string]any{"t": "x"})},
	}}
	if got := run(t, m, metaquery.Query{Fields: []fuzzy.Field{ask("t", "x")}, Limit: 10}); len(got.Hits) != 1 || got.Hits[0].DocumentID != "b" {
		t.Errorf("hits %v, want b alone", got.Hits)
	}
}

// TestRefused proves that every bound is a fault of its field, that a bound itself passes, and that errors of the rows
// and metadata that can't be read come out.
func TestRefused(t *testing.T) {
	t.Parallel()
	many := func(n int) []fuzzy.Field { return slices.Repeat([]fuzzy.Field{ask("t", "x")}, n) }
	weight := func(w float64) []fuzzy.Field { f := ask("t", "x"); f.Weight = w; return []fuzzy.Field{f} }
	words := func(n int) []fuzzy.Field {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d ", i)
		}
		return []fuzzy.Field{ask("t", b.String())}
	}
	for _, c := range []struct {
		name  string
		query metaquery.Query
		field string // at fault; "" for none
	}{
		{"fields", metaquery.Query{Fields: many(metaquery.MaxFields)}, ""},
		{"no fields", metaquery.Query{}, "queries"},
		{"too many fields", metaquery.Query{Fields: many(metaquery.MaxFields + 1)}, "queries"},
		{"words", metaquery.Query{Fields: words(metaquery.MaxWords)}, ""},
		{"too many words", metaquery.Query{Fields: words(metaquery.MaxWords + 1)}, "queries"},
		{"text", metaquery.Query{Fields: []fuzzy.Field{ask("t", strings.Repeat("é", metaquery.MaxText))}}, ""},
		{"too long a text", metaquery.Query{Fields: []fuzzy.Field{ask("t", strings.Repeat("é", metaquery.MaxText+1))}}, "queries[0].query"},
		{"blank text", metaquery.Query{Fields: []fuzzy.Field{ask("t", "x"), ask("t", " \t")}}, "queries[1].query"},
		{"no name", metaquery.Query{Fields: []fuzzy.Field{ask("", "x")}}, "queries[0].field"},
		{"weight", metaquery.Query{Fields: weight(metaquery.MaxWeight)}, ""},
		{"no weight", metaquery.Query{Fields: weight(0)}, "queries[0].weight"},
		{"negative weight", metaquery.Query{Fields: weight(-1)}, "queries[0].weight"},
		{"too much weight", metaquery.Query{Fields: weight(metaquery.MaxWeight + 1)}, "queries[0].weight"},
		{"offset", metaquery.Query{Fields: many(1), Offset: metaquery.MaxOffset}, ""},
		{"too deep", metaquery.Query{Fields: many(1), Offset: metaquery.MaxOffset + 1}, "offset"},
		{"filter", metaquery.Query{Fields: many(1), Filter: "doc.none = 1"}, "metadata_filter"},
	} {
		c.query.Corpus, c.query.Limit = "c", 10
		_, err := metaquery.New(&memory{}, &memory{}).Run(t.Context(), c.query)
		f, _ := fault.As(err)
		if c.field == "" && err != nil || c.field != "" && (f == nil || f.Kind != fault.KindInvalid || f.Fields[c.field] == "") {
			t.Errorf("%s: %v, want a fault of %q", c.name, err, c.field)
		}
	}
	q := metaquery.Query{Corpus: "c", Fields: many(1), Limit: 1}
	broken := errors.New("broken")
	if _, err := metaquery.New(&memory{}, &memory{fail: broken}).Run(t.Context(), q); !errors.Is(err, broken) {
		t.Errorf("failing rows: %v", err)
	}
	q.Filter = "doc.year = 1"
	bad := &memory{docs: []document.Document{{No: 1, ID: "d", Metadata: json.RawMessage(`{"t":"x",`)}}}
	if _, err := metaquery.New(bad, bad).Run(t.Context(), q); err == nil {
		t.Error("metadata that is no JSON passed a filter")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := metaquery.New(bad, bad).Run(ended, q); err == nil {
		t.Error("a query that was given up answered")
	}
}

package attribute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/attribute"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
)

// fixture is a corpus in memory, with its rows and an index that only runs commits.
type fixture struct {
	mu     sync.Mutex
	corpus corpus.Corpus // guarded by mu
	gone   bool          // guarded by mu
	rows   []metaquery.Row
	reads  []bool                         // guarded by mu: whether each pass was over parts
	before func(next corpus.Corpus) error // called by Retype before commit, when not nil
}

func newWorld() *fixture {
	return &fixture{corpus: corpus.Corpus{No: 3, Key: "c", Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer", Description: "of issue"},
		{Name: "tags", Level: "document", Type: "list[text]"},
		{Name: "a.b", Level: "document", Type: "real"},
		{Name: "ok", Level: "document", Type: "boolean"},
		{Name: "kind", Level: "part", Type: "text"},
		{Name: "marks", Level: "part", Type: "list[integer]"},
	}}}
}

// add adds a document whose parts have these metadata.
func (w *fixture) add(metadata string, parts ...string) {
	no := int64(1)
	if n := len(w.rows); n > 0 {
		no = w.rows[n-1].No + 1
	}
	for i, p := range parts {
		w.rows = append(w.rows, metaquery.Row{No: no, ID: fmt.Append(nil, "d", no), Metadata: []byte(metadata), Ord: i, Part: []byte(p)})
	}
}

func (w *fixture) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if keys[0] != w.corpus.Key || w.gone {
		return nil, fault.NotFound("corpus_not_found", keys[0], "corpus %s does not exist", keys[0])
	}
	return []corpus.Corpus{w.corpus}, nil
}

func (w *fixture) ReplaceAttributes(_ context.Context, no int64, all []corpus.Attribute, version int64) (corpus.Corpus, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if no != w.corpus.No || version != w.corpus.SchemaVersion+1 {
		return corpus.Corpus{}, fault.Conflict("corpus_changed", "it was")
	}
	w.corpus.Attributes, w.corpus.SchemaVersion = all, version
	return w.corpus, nil
}

func (w *fixture) Metadata(_ context.Context, _ int64, parts bool, visit func(metaquery.Row) error) error {
	w.mu.Lock()
	w.reads = append(w.reads, parts)
	w.mu.Unlock()
	for _, r := range w.rows {
		if !parts && r.Ord > 0 {
			continue
		}
		if !parts {
			r.Part = nil
		}
		if err := visit(r); err != nil {
			return err
		}
	}
	return nil
}

func (w *fixture) Retype(_ context.Context, next corpus.Corpus, commit func() (corpus.Corpus, error)) error {
	if w.before != nil {
		if err := w.before(next); err != nil {
			return err
		}
	}
	_, err := commit()
	return err
}

// show returns statistics in one line each: name, type, value×count, numbers.
func show(all []attribute.Stat) (out []string) {
	for _, s := range all {
		line := s.Name + " " + s.Type.String() + ":"
		for _, v := range s.Values {
			line += fmt.Sprintf(" %s×%d", v.Value, v.N)
		}
		if n := s.Numbers; n != nil {
			line += fmt.Sprintf(" [%s..%s avg %g sum %g]", n.Min, n.Max, n.Avg, n.Sum)
		}
		out = append(out, line)
	}
	return out
}

func TestStats(t *testing.T) {
	// Proves counts per level, order, ties, lists, numbers, filters and bounds of the statistics.
	t.Parallel()
	w := newWorld()
	w.add(`{"year":2021,"tags":["x","y","x"],"a":{"b":1},"ok":true}`, `{"kind":"rule","marks":[1,2]}`, `{"kind":"note"}`)
	w.add(`{"year":2024,"tags":[],"a.b":2.5,"ok":false}`, `{"kind":"rule","marks":[2]}`)
	w.add(`{"year":2024,"tags":["y"],"a":{"b":-0.0},"ok":true}`, `{"kind":"rule"}`, `{}`, `{"kind":"über"}`)
	w.add(`{"year":"from a file","tags":"z","a":{"b":0}}`, `{"kind":7}`)
	w.add(`{"year":null, "x":{"year":[1,"}\"",{}]}, "\u0079ear" : 1999 }`, `{"marks":[9223372036854775807,-9223372036854775808]}`)
	s := attribute.New(w, w, w, nil)
	tests := []struct {
		name  string
		query attribute.Query
		parts bool // one pass over parts, else over documents
		want  []string
	}{
		{"everything", attribute.Query{}, true, []string{
			"doc.year integer: 2024×2 1999×1 2021×1 [1999..2024 avg 2017 sum 8068]",
			"doc.tags list[text]: 'y'×2 'x'×1",
			"doc.a.b real: 0×2 1×1 2.5×1 [0..2.5 avg 0.875 sum 3.5]",
			"doc.ok boolean: true×2 false×1",
			"part.kind text: 'rule'×3 'note'×1 'über'×1",
			"part.marks list[integer]: 2×2 -9223372036854775808×1 1×1 9223372036854775807×1 [-9223372036854775808..9223372036854775807 avg 0.8 sum 4]",
		}},
		{"some, in the order asked, once each", attribute.Query{Fields: []string{"doc.ok", "doc.year", "doc.ok"}}, false, []string{
			"doc.ok boolean: true×2 false×1",
			"doc.year integer: 2024×2 1999×1 2021×1 [1999..2024 avg 2017 sum 8068]",
		}},
		{"numbers are of every value", attribute.Query{Fields: []string{"doc.year"}, MaxValues: 1}, false, []string{
			"doc.year integer: 2024×2 [1999..2024 avg 2017 sum 8068]"}},
		{"documents chosen", attribute.Query{Fields: []string{"doc.ok", "doc.year"}, Filter: "doc.year > 2000"}, false, []string{
			"doc.ok boolean: true×2 false×1", "doc.year integer: 2024×2 2021×1 [2021..2024 avg 2023 sum 6069]"}},
		{"parts chosen", attribute.Query{Fields: []string{"doc.year", "part.kind"}, Filter: "part.kind = 'rule'"}, true, []string{
			"doc.year integer: 2024×2 2021×1 [2021..2024 avg 2023 sum 6069]", "part.kind text: 'rule'×3"}},
		{"a document counts once however many parts are chosen", attribute.Query{Fields: []string{"doc.ok"}, Filter: "part.kind IN ('rule','note','über')"}, true, []string{
			"doc.ok boolean: true×2 false×1"}},
		{"one document", attribute.Query{Fields: []string{"doc.year"}, Filter: "doc.id = 'd2'"}, false, []string{
			"doc.year integer: 2024×1 [2024..2024 avg 2024 sum 2024]"}},
		{"nothing chosen", attribute.Query{Fields: []string{"doc.year", "doc.ok"}, Filter: "doc.year = 1"}, false, []string{
			"doc.year integer:", "doc.ok boolean:"}},
	}
	for _, tt := range tests {
		q := tt.query
		q.Corpus = "c"
		if q.MaxValues == 0 {
			q.MaxValues = 100
		}
		w.reads = nil
		got, err := s.Stats(t.Context(), q)
		if diff := cmp.Diff(tt.want, show(got)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
		if diff := cmp.Diff([]bool{tt.parts}, w.reads); diff != "" {
			t.Errorf("%s: passes over parts (-want +got): %s", tt.name, diff)
		}
	}
	all, err := s.Stats(t.Context(), attribute.Query{Corpus: "c", MaxValues: 1})
	if err != nil || all[0].Description != "of issue" || all[1].Description != "" {
		t.Errorf("descriptions: %+v, %v", all, err)
	}
}

func TestStatsRefusals(t *testing.T) {
	// Proves that fields and filters that can't be are refused under their parameter, before anything is read.
	t.Parallel()
	w := newWorld()
	s := attribute.New(w, w, w, nil)
	for _, tt := range []struct{ field, filter, path string }{
		{"year", "", "fields"}, {"doc.", "", "fields"}, {"", "", "fields"}, {"doc.nope", "", "fields"},
		{"part.year", "", "fields"}, {"Doc.year", "", "fields"}, {"doc.year", "doc.nope = 1", "metadata_filter"},
		{"doc.year", "doc.year = ", "metadata_filter"}, {"doc.year", strings.Repeat("(", 9000), "metadata_filter"},
	} {
		_, err := s.Stats(t.Context(), attribute.Query{Corpus: "c", Fields: []string{tt.field}, Filter: tt.filter, MaxValues: 1})
		if f, ok := fault.As(err); !ok || f.Fields[tt.path] == "" {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if _, err := s.Stats(t.Context(), attribute.Query{Corpus: "none"}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("no corpus: %v", err)
	}
	if len(w.reads) > 0 {
		t.Errorf("%d passes", len(w.reads))
	}
}

// FuzzPick proves that what the statistics see of metadata is what decoding the whole object gives.
func FuzzPick(f *testing.F) {
	for _, s := range []string{`{}`, `{"year":1}`, ` { "year" : [1,{"a":"}"}] , "x":2}`, `{"\u0079ear":1,"a":{"b":1}}`, `{"year":1,"year":2}`,
		`{"x":"\"","year":true}`, `[1]`, `{"year"`, `{"year":}`, `null`, `{"x":{"year":1},"tags":["a"]}`, `{"a":"\\","year":null}`} {
		f.Add(s)
	}
	schema, err := (&corpus.Corpus{Attributes: newWorld().corpus.Attributes}).Schema()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := attribute.Pick(schema, filter.Document, []byte(text))
		if !json.Valid([]byte(text)) {
			return // rows hold JSON: what else does, must only not crash
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var whole map[string]any
		if d.Decode(&whole) != nil || whole == nil {
			if err == nil {
				t.Fatalf("%q is no object, picked %v", text, got)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		a, bad := schema.Values(filter.Document, got)
		b, worse := schema.Values(filter.Document, whole)
		if fmt.Sprint(a, bad) != fmt.Sprint(b, worse) {
			t.Fatalf("%q: %v %v, want %v %v", text, a, bad, b, worse)
		}
	})
}

package document_test

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

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/fault"
)

// memory is a store of one corpus in memory, and its corpora and indexer. Methods that these tests don't reach are
// those of the nil interface.
type memory struct {
	document.Store
	corpus  corpus.Corpus
	docs    map[string]document.Document
	reads   int
	indexed []int64
	behind  error
}

func (m *memory) Get(_ context.Context, no int64, id string, _ bool) (*document.Document, error) {
	d, ok := m.docs[id]
	if !ok || no != m.corpus.No {
		return nil, fault.NotFound("document_not_found", id, "no document %s", id)
	}
	return &d, nil
}

func (m *memory) Delete(_ context.Context, _ int64, id string) (int64, error) {
	if _, ok := m.docs[id]; !ok {
		return 0, fault.NotFound("document_not_found", id, "no document %s", id)
	}
	delete(m.docs, id)
	m.corpus.Seq++
	return m.corpus.Seq, nil
}

func (m *memory) List(_ context.Context, _ int64, l document.List) ([]document.Document, error) {
	m.reads++
	var out []document.Document
	for id, d := range m.docs {
		if id > l.After {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b document.Document) int { return cmp.Compare(a.ID, b.ID) })
	return out[:min(l.Limit, len(out))], nil
}

// corpora finds the one corpus.
type corpora struct{ m *memory }

func (c corpora) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	if keys[0] != "c" {
		return nil, fault.NotFound("corpus_not_found", keys[0], "no corpus %s", keys[0])
	}
	return []corpus.Corpus{c.m.corpus}, nil
}

func (m *memory) CatchUp(_ context.Context, c corpus.Corpus) error {
	m.indexed = append(m.indexed, c.Seq)
	return m.behind
}

func newMemory(n int) (*memory, *document.Service) {
	m := &memory{corpus: corpus.Corpus{No: 5, Key: "c", Attributes: []corpus.Attribute{
		{Name: "even", Level: "document", Type: "boolean"}, {Name: "kind", Level: "part", Type: "text"}}},
		docs: map[string]document.Document{}}
	for i := range n {
		id := fmt.Sprintf("d%04d", i)
		m.docs[id] = document.Document{ID: id, Metadata: json.RawMessage(fmt.Sprintf(`{"even":%v}`, i%2 == 0))}
	}
	return m, document.NewService(m, corpora{m}, m)
}

func TestList(t *testing.T) {
	// Proves paging by id, the exact filter across batches, and when more follow.
	t.Parallel()
	m, s := newMemory(1200)
	tests := []struct {
		name  string
		query document.Query
		first string
		count int
		more  bool
	}{
		{"first page", document.Query{Limit: 10}, "d0000", 10, true},
		{"next page", document.Query{Limit: 10, After: "d0009"}, "d0010", 10, true},
		{"last page", document.Query{Limit: 10, After: "d1194"}, "d1195", 5, false},
		{"exactly the rest", document.Query{Limit: 5, After: "d1194"}, "d1195", 5, false},
		{"behind the end", document.Query{Limit: 5, After: "d9"}, "", 0, false},
		{"blank filter", document.Query{Limit: 3, Filter: " \n"}, "d0000", 3, true},
		{"filter", document.Query{Limit: 100, Filter: "doc.even", After: "d0500"}, "d0502", 100, true},
		{"filter over all", document.Query{Limit: 1000, Filter: "NOT doc.even"}, "d0001", 600, false},
		{"by id", document.Query{Limit: 10, Filter: "doc.id = 'd1100'"}, "d1100", 1, false},
		{"nothing matches", document.Query{Limit: 10, Filter: "doc.id = 'x'"}, "", 0, false},
	}
	for _, tt := range tests {
		page, more, err := s.List(t.Context(), "c", tt.query)
		if err != nil || len(page) != tt.count || more != tt.more || tt.count > 0 && page[0].ID != tt.first {
			t.Errorf("%s: %d documents, more %v, %v; want %d from %s, more %v", tt.name, len(page), more, err, tt.count, tt.first, tt.more)
		}
	}
	m.reads = 0
	if _, _, err := s.List(t.Context(), "c", document.Query{Limit: 1000, Filter: "doc.even"}); err != nil || m.reads > 3 {
		t.Errorf("%d reads, %v", m.reads, err)
	}
}

func TestListRefusals(t *testing.T) {
	// Proves that a bad filter is refused with the words that clients test for, before anything is read.
	t.Parallel()
	m, s := newMemory(3)
	for filter, want := range map[string]string{
		"part.kind = 'a'":              "part.kind",
		"doc.dept = 'a'":               "Unrecognized references: doc.dept",
		"doc.even = ":                  "Syntax error at 1:",
		"doc.even = 3":                 "Type error at",
		strings.Repeat("doc.e ", 2000): "at most 8000",
	} {
		_, _, err := s.List(t.Context(), "c", document.Query{Limit: 10, Filter: filter})
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid || !strings.Contains(f.Fields["query.metadata_filter"], want) || !strings.Contains(f.Text, want) {
			t.Errorf("%.30s: %v, want %s", filter, err, want)
		}
	}
	if _, _, err := s.List(t.Context(), "other", document.Query{Limit: 1}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("unknown corpus: %v", err)
	}
	if m.reads != 0 {
		t.Errorf("%d reads", m.reads)
	}
}

func TestDelete(t *testing.T) {
	// Proves that a delete waits for searches to follow, is a success when they can't now, and is refused once more.
	t.Parallel()
	m, s := newMemory(2)
	m.behind = errors.New("busy")
	if err := s.Delete(t.Context(), "c", "d0001"); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]int64{1}, m.indexed); diff != "" {
		t.Errorf("sequence numbers waited for: %s", diff)
	}
	for _, id := range []string{"d0001", "", "a\x00b", "\xff"} {
		err := s.Delete(t.Context(), "c", id)
		_, _, errGet := s.Get(t.Context(), "c", id)
		if !fault.Is(err, fault.KindNotFound) || !fault.Is(errGet, fault.KindNotFound) {
			t.Errorf("%q: Delete %v, Get %v", id, err, errGet)
		}
	}
	if _, d, err := s.Get(t.Context(), "c", "d0000"); err != nil || d.ID != "d0000" {
		t.Errorf("Get: %+v, %v", d, err)
	}
}

func TestAttributeTypes(t *testing.T) {
	// Proves that declared attributes are type-checked at their level when a document comes, and that what a parser
	// extracted is not.
	t.Parallel()
	c := corpus.Corpus{Key: "c", Attributes: []corpus.Attribute{
		{Name: "year", Level: "document", Type: "integer"}, {Name: "tags", Level: "document", Type: "list[text]"},
		{Name: "a.b", Level: "document", Type: "real"}, {Name: "kind", Level: "part", Type: "text"}}}
	doc := func(metadata string) document.Draft {
		return document.Structured{ID: "d", Metadata: json.RawMessage(metadata), Sections: []document.Section{section("x")}}
	}
	tests := []struct {
		draft document.Draft
		path  string // "" = accepted
	}{
		{doc(`{"year":2024,"tags":["a"],"a":{"b":1},"kind":7}`), ""},
		{doc(`{"year":null,"tags":[]}`), ""},
		{doc(`{"year":"2024"}`), "body.metadata.year"},
		{doc(`{"year":2024.5}`), "body.metadata.year"},
		{doc(`{"tags":["a",1]}`), "body.metadata.tags"},
		{doc(`{"a":{"b":"x"}}`), "body.metadata.a.b"},
		{document.Structured{ID: "d", Sections: []document.Section{{Title: "T", Sections: []document.Section{{Text: "x", Metadata: json.RawMessage(`{"kind":7}`)}}}}},
			"body.sections[0].sections[0].metadata.kind"},
		{document.Core{ID: "d", Parts: []document.CorePart{{Text: "a"}, {Text: "x", Metadata: json.RawMessage(`{"kind":true}`)}}},
			"body.document_parts[1].metadata.kind"},
		{document.Structured{ID: "d", Extracted: json.RawMessage(`{"year":"MMXX"}`), Sections: []document.Section{section("x")}}, ""},
	}
	for _, tt := range tests {
		_, err := tt.draft.Build(c)
		f, ok := fault.As(err)
		if tt.path == "" && err != nil || tt.path != "" && (!ok || gocmp.Diff([]string{tt.path}, f.Paths()) != "") {
			t.Errorf("%+v: %v, want %q", tt.draft, err, tt.path)
		}
	}
}

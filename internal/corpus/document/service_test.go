package document_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/fault"
)

func newMemory(t *testing.T, n int) (*documenttest.Memory, *document.Service) {
	t.Helper()
	m := documenttest.New(corpus.Corpus{Key: "c", Attributes: []corpus.Attribute{
		{Name: "even", Level: "document", Type: "boolean"}, {Name: "kind", Level: "part", Type: "text"}}})
	for i := range n {
		d := document.Document{ID: fmt.Sprintf("d%04d", i), Metadata: json.RawMessage(fmt.Sprintf(`{"even":%v}`, i%2 == 0))}
		if _, err := m.Insert(t.Context(), m.Corpus.No, m.Corpus.Epoch, &d); err != nil {
			t.Fatal(err)
		}
	}
	return m, document.NewService(m, m.Corpora(), m, nil, 64)
}

func TestList(t *testing.T) {
	// Proves paging by id, the exact filter across batches, and when more follow.
	t.Parallel()
	m, s := newMemory(t, 1200)
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
		{"by ids", document.Query{Limit: 2, Filter: "doc.id IN ('d0007','x','d0004','d0006','') AND doc.even"}, "d0004", 2, false},
		{"by ids, first page", document.Query{Limit: 1, Filter: "doc.id IN ('d0007','d0004')"}, "d0004", 1, true},
		{"by ids, next page", document.Query{Limit: 1, Filter: "doc.id IN ('d0007','d0004')", After: "d0004"}, "d0007", 1, false},
		{"all but one id", document.Query{Limit: 1, Filter: "doc.id <> 'd0000'"}, "d0001", 1, true},
	}
	for _, tt := range tests {
		page, more, err := s.List(t.Context(), "c", tt.query)
		if err != nil || len(page) != tt.count || more != tt.more || tt.count > 0 && page[0].ID != tt.first {
			t.Errorf("%s: %d documents, more %v, %v; want %d from %s, more %v", tt.name, len(page), more, err, tt.count, tt.first, tt.more)
		}
	}
	before := m.Reads()
	if _, _, err := s.List(t.Context(), "c", document.Query{Limit: 10, Filter: "doc.even AND doc.id = 'd0001'"}); err != nil || m.Reads() != before {
		t.Errorf("asking for one id reads the list %d times, %v", m.Reads()-before, err)
	}
	if _, _, err := s.List(t.Context(), "c", document.Query{Limit: 1000, Filter: "doc.even"}); err != nil || m.Reads()-before > 3 {
		t.Errorf("%d reads, %v", m.Reads()-before, err)
	}
}

func TestListRefusals(t *testing.T) {
	// Proves that a bad filter is refused with the words that clients test for, before anything is read.
	t.Parallel()
	m, s := newMemory(t, 3)
	for filter, want := range map[string]string{
		"part.kind = 'a'":              "part.kind",
		"doc.dept = 'a'":               "Unrecognized references: doc.dept",
		"doc.even = ":                  "Syntax error at 1:",
		"doc.even = 3":                 "Type error at",
		strings.Repeat("doc.e ", 2000): "at most 8000",
	} {
		_, _, err := s.List(t.Context(), "c", document.Query{Limit: 10, Filter: filter})
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindInvalid || !strings.Contains(f.Fields["metadata_filter"], want) || !strings.Contains(f.Text, want) {
			t.Errorf("%.30s: %v, want %s", filter, err, want)
		}
	}
	if _, _, err := s.List(t.Context(), "other", document.Query{Limit: 1}); !fault.Is(err, fault.KindNotFound) {
		t.Errorf("unknown corpus: %v", err)
	}
	if m.Reads() != 0 {
		t.Errorf("%d reads", m.Reads())
	}
}

func TestDelete(t *testing.T) {
	// Proves that a delete waits for searches to follow, is a success when they can't now, and is refused once more.
	t.Parallel()
	m, s := newMemory(t, 2)
	m.Behind = errors.New("busy")
	if err := s.Delete(t.Context(), "c", "d0001"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{3}, m.Indexed()); diff != "" {
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

// Package documenttest holds the in-memory stand-in for what documents and ingest need: one corpus, its documents in
// the order of their ids, and an index that only notes how far it was brought. Only tests import it.
package documenttest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/fault"
)

// Memory is a document.Store of one corpus, less the methods that the index reads with, and a document.Indexer.
// Exported fields may be set before use. Safe for concurrent use.
type Memory struct {
	document.Store // nil: reading for the index is not done here

	Corpus corpus.Corpus
	Behind error // what CatchUp returns
	Blind  bool  // Get finds nothing, as if all was committed a moment later

	mu      sync.Mutex
	docs    map[string]document.Document
	indexed []int64
	reads   int
}

// New gives the store of c, which gets numbers of its own where it has none.
func New(c corpus.Corpus) *Memory {
	c.No, c.Epoch = cmp.Or(c.No, 3), cmp.Or(c.Epoch, 77)
	return &Memory{Corpus: c, docs: map[string]document.Document{}}
}

// Corpora gives the finder of the one corpus.
func (m *Memory) Corpora() document.Corpora { return finder{m} }

type finder struct{ m *Memory }

func (f finder) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	var out []corpus.Corpus
	for _, k := range keys {
		if k != f.m.Corpus.Key {
			return nil, fault.NotFound("corpus_not_found", k, "corpus %s does not exist", k)
		}
		out = append(out, f.m.Corpus)
	}
	return out, nil
}

// Insert implements document.Store.
func (m *Memory) Insert(_ context.Context, corpusNo, epoch int64, d *document.Document) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if corpusNo != m.Corpus.No || epoch != m.Corpus.Epoch {
		return 0, fault.Conflict("corpus_changed", "the corpus was reset")
	}
	if old, ok := m.docs[d.ID]; ok {
		return 0, &document.Exists{ID: d.ID, Digest: old.Digest}
	}
	m.Corpus.Seq++
	kept := *d
	kept.No, kept.Parts = m.Corpus.Seq, slices.Clone(d.Parts)
	d.No = kept.No
	m.docs[d.ID] = kept
	return m.Corpus.Seq, nil
}

// Get implements document.Store.
func (m *Memory) Get(_ context.Context, _ int64, id string, parts bool) (*document.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[id]
	if !ok || m.Blind {
		return nil, fault.NotFound("document_not_found", id, "document %s does not exist", id)
	}
	if !parts {
		d.Parts = nil
	}
	return &d, nil
}

// Delete implements document.Store.
func (m *Memory) Delete(_ context.Context, _ int64, id string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.docs[id]; !ok {
		return 0, fault.NotFound("document_not_found", id, "document %s does not exist", id)
	}
	delete(m.docs, id)
	m.Corpus.Seq++
	return m.Corpus.Seq, nil
}

// List implements document.Store.
func (m *Memory) List(_ context.Context, _ int64, l document.List) ([]document.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	var out []document.Document
	for id, d := range m.docs {
		if id > l.After {
			d.Parts = nil
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b document.Document) int { return strings.Compare(a.ID, b.ID) })
	return out[:min(l.Limit, len(out))], nil
}

// CatchUp implements document.Indexer.
func (m *Memory) CatchUp(_ context.Context, c corpus.Corpus) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.indexed = append(m.indexed, c.Seq)
	return m.Behind
}

// Indexed lists the sequence numbers that CatchUp was called with.
func (m *Memory) Indexed() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.indexed)
}

// Reads counts the calls of List.
func (m *Memory) Reads() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reads
}

// Document gives a document as it was stored, vectors included.
func (m *Memory) Document(id string) (document.Document, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[id]
	return d, ok
}

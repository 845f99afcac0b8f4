package ingest_test

import (
	"context"
	"slices"
	"sync"

	"quarry/internal/corpus"
	"quarry/internal/document"
	"quarry/internal/embed"
	"quarry/internal/fault"
)

// memory is a store of one corpus in memory.
type memory struct {
	mu     sync.Mutex
	corpus corpus.Corpus
	docs   map[string]*document.Document
	blind  bool // Get finds nothing: what another writer committed a moment ago
}

func newMemory(c corpus.Corpus) *memory {
	return &memory{corpus: c, docs: map[string]*document.Document{}}
}

func (m *memory) Insert(_ context.Context, no, epoch int64, d *document.Document) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if no != m.corpus.No || epoch != m.corpus.Epoch {
		return 0, fault.Conflict("corpus_changed", "the corpus was reset")
	}
	if old, ok := m.docs[d.ID]; ok {
		return 0, &document.Exists{ID: d.ID, Digest: old.Digest}
	}
	kept := *d
	kept.Parts = slices.Clone(d.Parts)
	m.docs[d.ID] = &kept
	m.corpus.Seq++
	return m.corpus.Seq, nil
}

func (m *memory) Get(_ context.Context, _ int64, id string, _ bool) (*document.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[id]
	if !ok || m.blind {
		return nil, fault.NotFound("document_not_found", id, "no document %s", id)
	}
	return d, nil
}

// corpora finds the one corpus of a memory.
type corpora struct{ *memory }

func (c corpora) Get(_ context.Context, keys ...string) ([]corpus.Corpus, error) {
	if keys[0] != c.corpus.Key {
		return nil, fault.NotFound("corpus_not_found", keys[0], "no corpus %s", keys[0])
	}
	return []corpus.Corpus{c.corpus}, nil
}

// index records how far it was brought.
type index struct {
	seq []int64
	err error
}

func (x *index) CatchUp(_ context.Context, c corpus.Corpus) error {
	x.seq = append(x.seq, c.Seq)
	return x.err
}

// encoder writes the length of a text and records what it was asked.
type encoder struct {
	embed.Encoder // nil: the rest is not asked for
	mu            sync.Mutex
	texts         []string
	kinds         []embed.Kind
	largest       int
	err           error
}

func (e *encoder) Dim() int       { return 4 }
func (e *encoder) MaxTokens() int { return 256 }

func (e *encoder) Encode(ctx context.Context, kind embed.Kind, texts []string, out [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.texts = append(e.texts, texts...)
	e.kinds = append(e.kinds, kind)
	e.largest = max(e.largest, len(texts))
	for i := range texts {
		copy(out[i], []float32{1, 0, 0, 0})
	}
	if e.err != nil {
		return e.err
	}
	return ctx.Err()
}

// encoders knows the encoder of one corpus.
type encoders struct{ *encoder }

func (e encoders) Get(string) (embed.Encoder, error) { return e.encoder, nil }

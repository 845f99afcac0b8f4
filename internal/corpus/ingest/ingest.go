// Package ingest brings documents into a corpus: it makes the parts of a document, encodes them, commits them and
// waits until searches show them. It is called by the document and upload handlers. How a document becomes parts is
// package document's business, reading files is package extract's.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/embed"
	"quarry/internal/fault"
)

// Store is what ingest needs of document.Store.
type Store interface {
	Insert(ctx context.Context, corpusNo, epoch int64, d *document.Document) (seq int64, err error)
	Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*document.Document, error)
}

// Encoders finds the encoder of a corpus.
type Encoders interface {
	// Get gives the encoder with this name.
	Get(name string) (embed.Encoder, error)
}

// Config is what a Service works with.
type Config struct {
	Corpora   document.Corpora
	Documents Store
	Encoders  Encoders
	Index     document.Indexer
}

// Service is the use cases that add documents. Safe for concurrent use.
type Service struct {
	cfg     Config
	turns   turns
	readers chan struct{} // one for each file that is being parsed: each may take the memory that extract allows it
}

// New gives a service.
func New(c Config) *Service {
	return &Service{c, turns{now: map[place]chan struct{}{}}, make(chan struct{}, runtime.GOMAXPROCS(0))}
}

// Wait says when Create may return.
type Wait uint8

// The values of wait_for.
const (
	Searchable Wait = iota // when searches show the document
	Durable                // when the document is stored; any search from then on shows it, the first may take longer
)

// Create adds the document that d describes. A taken id is fault.KindConflict with one of two texts that clients
// match; a disabled corpus and a bad draft are fault.KindInvalid.
func (s *Service) Create(ctx context.Context, corpusKey string, d document.Draft, wait Wait) (*document.Document, error) {
	c, err := s.open(ctx, corpusKey)
	if err != nil {
		return nil, err
	}
	doc, err := d.Build(c)
	if err != nil {
		return nil, err
	}
	if err := s.commit(ctx, c, doc, wait); err != nil {
		var taken *document.Exists
		if errors.As(err, &taken) {
			return nil, conflict(taken, doc.Digest)
		}
		return nil, err
	}
	return doc, nil
}

// open gives the corpus as it is when the request is received, if it takes documents.
func (s *Service) open(ctx context.Context, key string) (corpus.Corpus, error) {
	c, err := document.CorpusOf(ctx, s.cfg.Corpora, key)
	if err != nil || c.Enabled {
		return c, err
	}
	f := fault.InvalidField("", "corpus %s is disabled: it takes no documents", key)
	f.Text = fmt.Sprintf("FAILED_PRECONDITION: corpus %s is disabled; enable it to index documents", key)
	return c, f
}

// commit encodes doc, makes it durable and, unless told otherwise, waits until searches show it. A taken id gives
// *document.Exists, mostly before the work of encoding: clients repeat a refused create.
//
// Once Insert has returned, the outcome is success whatever becomes of the search index or of the request's deadline:
// every query first brings the index up to the corpus's sequence number, so a query that shows anything shows this
// document.
func (s *Service) commit(ctx context.Context, c corpus.Corpus, doc *document.Document, wait Wait) error {
	end, err := s.turns.take(ctx, place{c.No, doc.ID})
	if err != nil {
		return err
	}
	defer end()
	switch stored, err := s.cfg.Documents.Get(ctx, c.No, doc.ID, false); {
	case err == nil:
		return &document.Exists{ID: doc.ID, Digest: stored.Digest}
	case !fault.Is(err, fault.KindNotFound):
		return fmt.Errorf("look for document: %w", err)
	}
	if err := s.encode(ctx, c, doc); err != nil {
		return err
	}
	seq, err := s.cfg.Documents.Insert(ctx, c.No, c.Epoch, doc)
	if err != nil {
		return err
	}
	if wait == Searchable {
		c.Seq = seq
		_ = s.cfg.Index.CatchUp(ctx, c) // logged there; see above
	}
	for i := range doc.Parts { // searches have their own copy; the answer needs none
		doc.Parts[i].Vector = nil
	}
	return nil
}

// conflict gives the refusal of a taken id (contract: Duplicate handling).
func conflict(taken *document.Exists, digest string) error {
	if digest != "" && digest == taken.Digest {
		return fault.Conflict("document_exists",
			"ALREADY_EXISTS: A document with document id '%s' and the same content already exists.", taken.ID)
	}
	return fault.Conflict("document_exists",
		"CONFLICT: Indexing doesn't support updating documents. A document with document id '%s' already exists.", taken.ID)
}

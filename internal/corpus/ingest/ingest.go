// Package ingest adds documents to a corpus: it builds a document with its parts, encodes these, commits the document and
// waits until searches show it. The document and upload handlers call it. The rules for parts are in package draft, the
// readers of files in package extract.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"

	"quarry/internal/background"
	"quarry/internal/blob"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest/summary"
	"quarry/internal/embed"
	"quarry/internal/extract"
	"quarry/internal/fault"
)

// Store is what ingest needs of document.Store.
type Store interface {
	Insert(ctx context.Context, corpusNo, epoch int64, d *document.Document) (seq int64, err error)
	Replace(ctx context.Context, corpusNo, epoch int64, d *document.Document) (seq int64, err error)
	Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*document.Document, error)
	Kin(ctx context.Context, corpusNo int64, docID, digest string, visit func(no int64, p *document.Part) error) (*document.Document, error)
}

// Encoders finds the encoder of a corpus.
type Encoders interface {
	// Get returns the encoder with this name.
	Get(name string) (embed.Encoder, error)
}

// Reader reads files; package reader has one that leaves it to processes. Its errors are those of extract.Read, and
// extract.ErrStopped; others mean that the service could not do it.
type Reader interface {
	Read(ctx context.Context, in extract.Input) (*extract.Document, error)
	// Scanned returns the picture of a page that Read has found to be one.
	Scanned(ctx context.Context, in extract.Input, page extract.Scan) (*extract.Raster, error)
}

// here is the Reader that parses in this process.
type here struct{}

func (here) Read(_ context.Context, in extract.Input) (*extract.Document, error) {
	return extract.Read(in)
}

func (here) Scanned(_ context.Context, in extract.Input, page extract.Scan) (*extract.Raster, error) {
	return extract.Scanned(in, page)
}

// Config is what a Service works with.
type Config struct {
	Corpora   corpus.Reader
	Documents Store
	Encoders  Encoders
	Index     document.Indexer
	Files     Files            // where uploaded files are kept with their documents; nil keeps none
	Reader    Reader           // of files; nil parses in this process
	Summaries *summary.Service // of tables; nil where no request asks for any
	Pictures  bool             // embedded pictures of files are kept as images of their documents
	OCR       OCR              // of pictures; nil reads none
}

// Files is what ingest needs of blob.Store.
type Files interface {
	Put(ctx context.Context, r io.Reader, limit int64) (blob.Blob, error)
	Release(ctx context.Context, b blob.Blob) error
}

// Service is the use cases that add documents. Safe for concurrent use.
type Service struct {
	cfg     Config
	turns   turns
	readers chan struct{} // bounds the files parsed at once, as each may use the memory that a parser may
	scans   chan struct{} // and the pages that text is recognised on
}

// New returns a service.
func New(c Config) *Service {
	if c.Reader == nil {
		c.Reader = here{}
	}
	n := background.Cores()
	return &Service{c, turns{now: map[place]chan struct{}{}}, make(chan struct{}, n), make(chan struct{}, n)}
}

// Wait is what Create waits for.
type Wait uint8

// The values of wait_for.
const (
	Searchable Wait = iota // when searches show the document
	Durable                // when the document is stored; any search from then on shows it, the first may take longer
)

// Options are how a document is added.
type Options struct {
	Wait    Wait
	Replace bool // a document that has the id goes in the same moment; else a taken id is a conflict
	Anew    bool // with Replace: also a document that stands there already is written again
}

// Added is a document that was added, or found to be there already.
type Added struct {
	*document.Document     // without vectors, and without parts where it was there
	Passages           int // its parts
	Encoded            int // those of them that had to be encoded; the others have the vectors of equal passages
	Searched           int // pages of a file that were searched for tables

	seq int64 // of the corpus behind the change; 0 where nothing was changed
}

// Create adds the document that d describes. A taken id is fault.KindConflict with one of two texts that clients
// match, unless the document may be replaced; a disabled corpus and a bad draft are fault.KindInvalid.
func (s *Service) Create(ctx context.Context, corpusKey string, d document.Draft, o Options) (*Added, error) {
	c, err := s.open(ctx, corpusKey)
	if err != nil {
		return nil, err
	}
	doc, err := d.Build(c)
	if err != nil {
		return nil, err
	}
	out, err := s.commit(ctx, c, doc, o)
	var taken *document.Exists
	if errors.As(err, &taken) {
		return nil, conflict(taken, doc.Digest)
	}
	return out, err
}

// open returns the corpus in its state at the time of the request, or a fault if it is disabled.
func (s *Service) open(ctx context.Context, key string) (corpus.Corpus, error) {
	c, err := corpus.Find(ctx, s.cfg.Corpora, key)
	if err != nil || c.Enabled {
		return c, err
	}
	f := fault.InvalidField("", "corpus %s is disabled: it takes no documents", key)
	f.Text = fmt.Sprintf("FAILED_PRECONDITION: corpus %s is disabled; enable it to index documents", key)
	return c, f
}

// commit encodes what is new in doc, stores it durably and, for Searchable, waits until searches show it. A taken id that
// may not be replaced is *document.Exists, usually found before the cost of encoding, as clients repeat refused requests. A
// document that stands there already, in every particular, is returned as it is.
//
// A client that has gone ends it between two texts that are encoded, and nothing is left of the document. From then on the
// document is stored whether anybody waits for the answer or not.
//
// Once the store has returned, the outcome is success even if updating the search index fails or the deadline passes: every
// query first brings the index up to the corpus's sequence number, so a query that succeeds shows this document.
func (s *Service) commit(ctx context.Context, c corpus.Corpus, doc *document.Document, o Options) (*Added, error) {
	end, err := s.turns.take(ctx, place{c.No, doc.ID})
	if err != nil {
		return nil, err
	}
	defer end()
	put := s.cfg.Documents.Replace
	if !o.Replace {
		put = s.cfg.Documents.Insert
		if err := s.free(ctx, c, doc.ID); err != nil {
			return nil, err
		}
	}
	out := &Added{Document: doc, Passages: len(doc.Parts)}
	stands, err := s.reuse(ctx, c, doc)
	if err != nil {
		return nil, err
	}
	if o.Replace && !o.Anew && stands != nil {
		out.Document = stands
		return out, nil
	}
	if out.Encoded, err = s.encode(ctx, c, doc); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx, done := outlive(ctx)
	defer done()
	if out.seq, err = put(ctx, c.No, c.Epoch, doc); err != nil {
		return nil, err
	}
	if o.Wait == Searchable {
		c.Seq = out.seq
		_ = s.cfg.Index.CatchUp(ctx, c) // logged there; see above
	}
	for i := range doc.Parts { // searches have their own copy; the answer needs none
		doc.Parts[i].Vector = nil
	}
	return out, nil
}

// outlive returns a context with the deadline of a request that does not end when its client disconnects.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	stays := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(stays, deadline)
	}
	return context.WithCancel(stays)
}

// free returns *document.Exists if an id is taken.
func (s *Service) free(ctx context.Context, c corpus.Corpus, id string) error {
	switch stored, err := s.cfg.Documents.Get(ctx, c.No, id, false); {
	case err == nil:
		return &document.Exists{ID: id, Digest: stored.Digest}
	case !fault.Is(err, fault.KindNotFound):
		return fmt.Errorf("look for document: %w", err)
	}
	return nil
}

// conflict returns the fault for a taken id (contract: Duplicate handling).
func conflict(taken *document.Exists, digest string) error {
	if digest != "" && digest == taken.Digest {
		return fault.Conflict("document_exists",
			"ALREADY_EXISTS: A document with document id '%s' and the same content already exists.", taken.ID)
	}
	return fault.Conflict("document_exists",
		"CONFLICT: Indexing doesn't support updating documents. A document with document id '%s' already exists.", taken.ID)
}

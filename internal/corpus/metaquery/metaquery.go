// Package metaquery ranks the documents or parts of a corpus by how well their metadata matches queries over some of its
// fields (contract: metadata-filters.md section 10). It reads the stored metadata of the corpus once per query and keeps
// nothing between queries. Matching is in package fuzzy; texts of parts are searched by package retrieve.
package metaquery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"quarry/internal/background"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/text/fuzzy"
)

// Query asks for the documents of a corpus, or for its parts.
type Query struct {
	Corpus        string
	Parts         bool // level "part"
	Fields        []fuzzy.Field
	Filter        string
	Limit, Offset int
}

// Bounds of a query that the contract leaves open. They bound the cost of one pass over a corpus.
const (
	MaxFields = 32
	MaxText   = 1000 // characters of a field's text
	MaxWords  = 128  // of all fields together
	MaxOffset = 100_000
	MaxWeight = 1_000_000
)

// Hit is a document with all its metadata; in a query over parts, the document of a part.
type Hit struct {
	DocumentID string
	Score      float64 // 0..1
	Metadata   json.RawMessage
}

// Answer is a page of hits, best first and equal ones by document id and part order, with the total number of hits.
type Answer struct {
	Hits  []Hit
	Total int
}

// Row is the metadata of a document, or of one of its parts beside that of the document. Its bytes are valid until visit
// returns.
type Row struct {
	No       int64
	ID       []byte
	Metadata []byte
	Ord      int
	Part     []byte // nil where parts were not asked for
}

// Rows reads stored metadata.
type Rows interface {
	// Metadata hands every document of the corpus to visit, or every part, one after another by document number and
	// part order, as of one snapshot. An error of visit ends the pass and is returned.
	Metadata(ctx context.Context, corpusNo int64, parts bool, visit func(Row) error) error
	// Found returns documents without parts by number, also those that were replaced since Metadata (document.ReplacedFor);
	// deleted ones are left out.
	Found(ctx context.Context, corpusNo int64, nos []int64) ([]document.Document, error)
}

// Service answers queries over metadata. Safe for concurrent use.
type Service struct {
	corpora corpus.Reader
	rows    Rows
}

// New returns a service.
func New(c corpus.Reader, r Rows) *Service { return &Service{c, r} }

// Run answers q. Faults are a missing corpus, an invalid filter and a value out of bounds.
func (s *Service) Run(ctx context.Context, q Query) (Answer, error) {
	if err := check(q); err != nil {
		return Answer{}, err
	}
	c, err := corpus.Find(ctx, s.corpora, q.Corpus)
	if err != nil {
		return Answer{}, err
	}
	pass, err := newPass(&c, q)
	if err != nil {
		return Answer{}, err
	}
	best, err := s.rank(ctx, c.No, pass)
	if err != nil {
		return Answer{}, err
	}
	return s.page(ctx, c.No, q, best)
}

// check returns a fault that names every invalid field.
func check(q Query) error {
	f := fault.Invalid()
	if n := len(q.Fields); n == 0 || n > MaxFields {
		f.Field("queries", "must name 1 to %d fields", MaxFields)
	}
	for i, x := range q.Fields {
		at := fmt.Sprintf("queries[%d].", i)
		if strings.TrimSpace(x.Text) == "" || utf8.RuneCountInString(x.Text) > MaxText {
			f.Field(at+"query", "must be 1 to %d characters and not blank", MaxText)
		}
		if x.Name == "" {
			f.Field(at+"field", "must not be empty")
		}
		if !(x.Weight > 0 && x.Weight <= MaxWeight) {
			f.Field(at+"weight", "must be above 0 and at most %d", MaxWeight)
		}
	}
	if q.Offset < 0 || q.Offset > MaxOffset {
		f.Field("offset", "must be between 0 and %d", MaxOffset)
	}
	return f.Err()
}

// pass is a compiled query, shared by the goroutines that run it.
type pass struct {
	query  *fuzzy.Query
	filter *filter.Filter
	schema *filter.Schema
	id     int  // ordinal of doc.id
	parts  bool // hits are parts
	both   bool // rows are parts, for the hits or for the filter
	keep   int  // hits to keep
}

func newPass(c *corpus.Corpus, q Query) (*pass, error) {
	schema, err := c.Schema()
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.Key, err)
	}
	p := &pass{schema: schema, query: fuzzy.Compile(q.Fields), parts: q.Parts, both: q.Parts, keep: q.Offset + q.Limit}
	if p.query.Words() > MaxWords {
		return nil, fault.InvalidField("queries", "ask for more than %d words in all", MaxWords)
	}
	p.id, _ = schema.Find(filter.Document, "id")
	if p.filter, err = filter.Parse(q.Filter, schema, filter.Both); err != nil {
		return nil, err
	}
	for _, a := range p.filter.Attrs() {
		p.both = p.both || schema.Attributes()[a].Level == filter.Part
	}
	return p, nil
}

// Rows are passed to the goroutines that score them in batches of so many rows or bytes, whichever comes first. The parts
// of a document stay in one batch.
const (
	batchRows  = 256
	batchBytes = 256 << 10
)

// batch is rows with their bytes. Batches are reused within a pass.
type batch struct {
	rows  []Row
	bytes arena
}

// rank returns the best hits of a corpus and how many there are.
func (s *Service) rank(ctx context.Context, corpusNo int64, p *pass) (*top, error) {
	group, ctx := errgroup.WithContext(ctx)
	full, empty := make(chan *batch, 4), make(chan *batch, 4)
	group.Go(func() error {
		defer close(full)
		return s.read(ctx, corpusNo, p.both, full, empty)
	})
	tops := make([]*top, background.Cores())
	for i := range tops {
		tops[i] = &top{keep: p.keep}
		group.Go(func() error {
			run := runner{pass: p, scorer: p.query.Scorer(), top: tops[i]}
			for b := range full {
				if err := run.batch(b.rows); err != nil {
					return err
				}
				select {
				case empty <- b:
				default: // enough batches are waiting
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, t := range tops[1:] {
		tops[0].merge(t)
	}
	return tops[0], nil
}

// read sends the rows of a corpus in batches.
func (s *Service) read(ctx context.Context, corpusNo int64, parts bool, full chan<- *batch, empty <-chan *batch) error {
	b := &batch{}
	send := func() error {
		select {
		case full <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case b = <-empty:
			b.rows, b.bytes = b.rows[:0], b.bytes[:0]
		default:
			b = &batch{rows: make([]Row, 0, batchRows), bytes: make(arena, 0, batchBytes)}
		}
		return nil
	}
	err := s.rows.Metadata(ctx, corpusNo, parts, func(r Row) error {
		filled := len(b.rows) >= batchRows || len(b.bytes) >= batchBytes
		if filled && b.rows[len(b.rows)-1].No != r.No {
			if err := send(); err != nil {
				return err
			}
		}
		r.ID, r.Metadata, r.Part = b.bytes.keep(r.ID), b.bytes.keep(r.Metadata), b.bytes.keep(r.Part)
		b.rows = append(b.rows, r)
		return nil
	})
	if err != nil || len(b.rows) == 0 {
		return err
	}
	return send()
}

// arena holds the bytes of a batch. It grows without moving the bytes that it already holds.
type arena []byte

func (a *arena) keep(b []byte) []byte {
	if b == nil {
		return nil
	}
	from := len(*a)
	*a = append(*a, b...)
	return (*a)[from:len(*a):len(*a)]
}

// page reads the metadata of the hits of the requested page.
func (s *Service) page(ctx context.Context, corpusNo int64, q Query, best *top) (Answer, error) {
	out := Answer{Total: best.total}
	found := best.sorted()
	found = found[min(q.Offset, len(found)):]
	var nos []int64
	for _, e := range found {
		if !slices.Contains(nos, e.no) {
			nos = append(nos, e.no)
		}
	}
	heads, err := s.rows.Found(ctx, corpusNo, nos)
	if err != nil {
		return out, err
	}
	stored := map[int64]json.RawMessage{}
	for _, d := range heads {
		stored[d.No] = d.Metadata
	}
	for _, e := range found {
		if m, ok := stored[e.no]; ok { // otherwise it has been deleted since
			out.Hits = append(out.Hits, Hit{DocumentID: e.id, Score: e.score, Metadata: m})
		}
	}
	return out, nil
}

// runner scores batches. It is for one goroutine.
type runner struct {
	*pass
	scorer *fuzzy.Scorer
	top    *top
}

func (r *runner) batch(rows []Row) error {
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].No == rows[0].No {
			n++
		}
		if err := r.document(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// document scores the rows of one document.
func (r *runner) document(rows []Row) error {
	if r.parts {
		for i := range rows {
			if err := r.entry(rows[i].Part, rows[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	return r.entry(rows[0].Metadata, rows)
}

// entry adds a hit when metadata matches and a row passes the filter.
func (r *runner) entry(metadata []byte, rows []Row) error {
	score := r.scorer.Score(metadata)
	if score <= 0 {
		return nil
	}
	if ok, err := r.passes(rows); !ok || err != nil {
		return err
	}
	r.top.add(entry{score: score, id: string(rows[0].ID), no: rows[0].No, ord: rows[0].Ord})
	return nil
}

// passes reports whether one of a document's rows passes the filter.
func (r *runner) passes(rows []Row) (bool, error) {
	if r.filter == nil {
		return true, nil
	}
	m, err := metadata.Values(rows[0].Metadata)
	if err != nil {
		return false, fmt.Errorf("metadata of document %q: %w", rows[0].ID, err)
	}
	ofDocument, _ := r.schema.Values(filter.Document, m)
	ofDocument[r.id] = filter.Text(string(rows[0].ID))
	if !r.both {
		return r.filter.Match(values{ofDocument, ofDocument}), nil
	}
	for i := range rows {
		if rows[i].Part == nil { // a document without parts never passes, as in every search
			continue
		}
		m, err := metadata.Values(rows[i].Part)
		if err != nil {
			return false, fmt.Errorf("metadata of part %d of document %q: %w", rows[i].Ord, rows[i].ID, err)
		}
		ofPart, _ := r.schema.Values(filter.Part, m)
		if r.filter.Match(values{ofDocument, ofPart}) {
			return true, nil
		}
	}
	return false, nil
}

// values are the values of a document and of a part; each attribute is in one of them.
type values struct{ document, part []filter.Value }

// Value implements filter.Row.
func (v values) Value(ordinal int) filter.Value {
	if d := v.document[ordinal]; !d.IsAbsent() {
		return d
	}
	return v.part[ordinal]
}

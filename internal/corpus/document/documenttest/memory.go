// Package documenttest holds the in-memory stand-in for what documents and ingest need: one corpus, its documents in
// the order of their ids, and an index that only notes how far it was brought. Only tests import it.
package documenttest

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/fault"
)

// Memory is a document.Store of one corpus, less the methods that the index reads with, and a document.Indexer.
// Exported fields may be set before use. Safe for concurrent use.
type Memory struct {
	document.Store // nil: reading for the index is not done here

	Corpus corpus.Corpus
	Behind error                           // what CatchUp returns
	Blind  bool                            // Get finds nothing, as if all was committed a moment later
	Hold   func()                          // called by Delete and Amend before they look at anything, when not nil
	Slow   func(ctx context.Context) error // what Delete does instead, when not nil

	mu      sync.Mutex
	docs    map[string]document.Document
	indexed []int64
	reads   int
	last    time.Time // given out by now
}

// New returns a store of c, with a number and epoch if c has none.
func New(c corpus.Corpus) *Memory {
	c.No, c.Epoch = cmp.Or(c.No, 3), cmp.Or(c.Epoch, 77)
	return &Memory{Corpus: c, docs: map[string]document.Document{}}
}

// Corpora returns a corpus.Reader with the one corpus.
func (m *Memory) Corpora() corpus.Reader { return finder{m} }

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

// now returns an instant after all earlier ones, so that a cutoff can separate any two changes.
func (m *Memory) now() time.Time {
	now := clock.Now()
	if !now.After(m.last) {
		now = m.last.Add(time.Microsecond)
	}
	m.last = now
	return now
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
	return m.keep(d), nil
}

// Replace implements document.Store.
func (m *Memory) Replace(_ context.Context, corpusNo, epoch int64, d *document.Document) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if corpusNo != m.Corpus.No || epoch != m.Corpus.Epoch {
		return 0, fault.Conflict("corpus_changed", "the corpus was reset")
	}
	return m.keep(d), nil
}

// keep stores d under its id as one change; the caller holds mu.
func (m *Memory) keep(d *document.Document) int64 {
	m.Corpus.Seq++
	d.No, d.Updated = m.Corpus.Seq, m.now()
	d.Created = d.Updated
	if old, ok := m.docs[d.ID]; ok {
		d.Created = old.Created
	}
	kept := *d
	kept.Parts = slices.Clone(d.Parts)
	m.docs[d.ID] = kept
	return m.Corpus.Seq
}

// Kin implements document.Store.
func (m *Memory) Kin(
	_ context.Context, _ int64, docID, digest string, visit func(no int64, p *document.Part) error,
) (*document.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var former, same *document.Document
	for id, d := range m.docs {
		if id == docID {
			former = &d
		} else if digest != "" && d.Digest == digest && (same == nil || d.No > same.No) {
			same = &d
		}
	}
	if former != nil && former.Digest == digest && (same == nil || former.No > same.No) {
		same = nil
	}
	for _, d := range []*document.Document{former, same} {
		if d == nil {
			continue
		}
		for i := range d.Parts {
			p := d.Parts[i]
			if err := visit(d.No, &p); err != nil {
				return nil, err
			}
		}
		d.Parts = nil
	}
	return former, nil
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

// Whole implements document.Store.
func (m *Memory) Whole(ctx context.Context, corpusNo int64, id string) (*document.Document, error) {
	return m.Get(ctx, corpusNo, id, true)
}

// Image implements document.Store.
func (m *Memory) Image(ctx context.Context, corpusNo int64, docID, imageID string) (document.Image, error) {
	d, err := m.Get(ctx, corpusNo, docID, false)
	if err != nil {
		return document.Image{}, err
	}
	for _, i := range d.Images {
		if i.ID == imageID {
			return i, nil
		}
	}
	return document.Image{}, fault.NotFound("image_not_found", imageID, "document %s has no image %s", docID, imageID)
}

// Delete implements document.Store.
func (m *Memory) Delete(ctx context.Context, _, epoch int64, seen *document.Document) (int64, error) {
	m.pause()
	if m.Slow != nil {
		return 0, m.Slow(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[seen.ID]
	switch {
	case epoch != m.Corpus.Epoch:
		return 0, fault.Conflict("corpus_changed", "the corpus was reset")
	case !ok:
		return 0, fault.NotFound("document_not_found", seen.ID, "document %s does not exist", seen.ID)
	case d.No != seen.No || !d.Updated.Equal(seen.Updated):
		return 0, fault.Conflict("document_changed", "document %s was changed", seen.ID)
	}
	delete(m.docs, seen.ID)
	m.Corpus.Seq++
	return m.Corpus.Seq, nil
}

// DeleteMany implements document.Store.
func (m *Memory) DeleteMany(_ context.Context, _, epoch int64, ids []string, cutoff time.Time) (seq int64, deleted int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.Corpus.Epoch {
		return 0, 0, fault.Conflict("corpus_changed", "the corpus was reset")
	}
	for _, id := range ids {
		if d, ok := m.docs[id]; ok && (cutoff.IsZero() || !d.Updated.After(cutoff)) {
			delete(m.docs, id)
			m.Corpus.Seq++
			deleted++
		}
	}
	return m.Corpus.Seq, deleted, nil
}

// Amend implements document.Store.
func (m *Memory) Amend(_ context.Context, _, epoch int64, edits []document.Edit) (seq int64, err error) {
	m.pause()
	m.mu.Lock()
	defer m.mu.Unlock()
	if epoch != m.Corpus.Epoch {
		return 0, fault.Conflict("corpus_changed", "the corpus was reset")
	}
	for i := range edits {
		m.amend(&edits[i])
	}
	return m.Corpus.Seq, nil
}

func (m *Memory) amend(e *document.Edit) {
	e.Outcome, e.Err = document.Missing, nil
	for id, d := range m.docs {
		if d.No != e.No && (e.No != 0 || id != e.ID) {
			continue
		}
		next, err := e.Amendment.Apply(d.Metadata)
		switch {
		case err != nil:
			e.Outcome, e.Err = document.Refused, err
		case !e.Cutoff.IsZero() && d.Updated.After(e.Cutoff):
			e.Outcome = document.Newer
		case string(next) == string(d.Metadata):
			e.Outcome = document.Unchanged
		default:
			e.Outcome = document.Updated
			d.Metadata = next
			d.Updated = m.now()
			m.docs[id] = d
			m.Corpus.Seq++
		}
		return
	}
}

// Heads implements document.Store.
func (m *Memory) Heads(_ context.Context, _ int64, nos []int64) (out []document.Document, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.docs {
		if slices.Contains(nos, d.No) {
			d.Parts = nil
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b document.Document) int { return cmp.Compare(a.No, b.No) })
	return out, nil
}

// pause runs the hook of a test.
func (m *Memory) pause() {
	if m.Hold != nil {
		m.Hold()
	}
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

// Document returns a document as it was stored, vectors included.
func (m *Memory) Document(id string) (document.Document, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, ok := m.docs[id]
	return d, ok
}

// Edit changes a stored document, as another request or an earlier program would.
func (m *Memory) Edit(id string, change func(*document.Document)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.docs[id]
	d.Parts = slices.Clone(d.Parts)
	change(&d)
	m.docs[id] = d
}

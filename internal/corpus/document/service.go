package document

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"quarry/internal/corpus"
	"quarry/internal/fault"
)

// Indexer keeps the searchable copy of corpora in step with their change sequence.
type Indexer interface {
	// CatchUp returns when searches show every change of c up to c.Seq. It logs its own failures. An error means that
	// the copy is behind, not that a change is lost: every query first brings the copy up to the corpus's
	// sequence number, or fails.
	CatchUp(ctx context.Context, c corpus.Corpus) error
}

// Service is the use cases over stored documents. Safe for concurrent use.
type Service struct {
	store   Store
	corpora corpus.Reader
	indexer Indexer
	files   Contents
	deletes gate // corpus → deletions under way
	updates gate // document → updates under way
}

// NewService returns a service that deletes at most maxDeletes documents of a corpus at once.
func NewService(s Store, c corpus.Reader, i Indexer, f Contents, maxDeletes int) *Service {
	return &Service{store: s, corpora: c, indexer: i, files: f, deletes: gate{most: maxDeletes}, updates: gate{most: 1}}
}

// Get reads a document with its parts.
func (s *Service) Get(ctx context.Context, corpusKey, id string) (corpus.Corpus, *Document, error) {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return c, nil, err
	}
	d, err := s.store.Get(ctx, c.No, id, true)
	return c, d, err
}

// Whole reads a document with its parts and their vectors, all of one version of it.
func (s *Service) Whole(ctx context.Context, corpusKey, id string) (corpus.Corpus, *Document, error) {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return c, nil, err
	}
	d, err := s.store.Whole(ctx, c.No, id)
	return c, d, err
}

// Image reads an image of a document with its bytes.
func (s *Service) Image(ctx context.Context, corpusKey, id, imageID string) (Image, error) {
	c, err := s.corpusOf(ctx, corpusKey, id)
	if err != nil {
		return Image{}, err
	}
	if !Possible(imageID) {
		imageID = strings.ToValidUTF8(imageID, "\uFFFD")
		return Image{}, fault.NotFound("image_not_found", imageID, "document %s has no image %s", id, imageID)
	}
	return s.store.Image(ctx, c.No, id, imageID)
}

// corpusOf returns the corpus of a document; fault.KindNotFound if the corpus does not exist or no document can have this
// id.
func (s *Service) corpusOf(ctx context.Context, corpusKey, id string) (corpus.Corpus, error) {
	c, err := corpus.Find(ctx, s.corpora, corpusKey)
	if err == nil && !Possible(id) {
		err = notFound(c, id)
	}
	return c, err
}

// Possible reports whether a document could have this id. Others are not looked up, as the text type of the database may
// refuse them.
func Possible(id string) bool {
	return id != "" && utf8.ValidString(id) && !strings.ContainsRune(id, 0)
}

func notFound(c corpus.Corpus, id string) error {
	id = strings.ToValidUTF8(id, "\uFFFD")
	return fault.NotFound("document_not_found", id, "document %s does not exist in corpus %s", id, c.Key)
}

// Query selects the documents to list.
type Query struct {
	Limit  int
	After  string // last id shown, "" for the first page
	Filter string // over document metadata, "" = all
}

// scanned is the number of documents that a filtered list reads at a time.
const scanned = 500

// List returns a page of documents without parts, ascending by the bytes of their ids, and whether more follow. The
// filter is evaluated on the stored rows: it is exact and sees every committed write.
func (s *Service) List(ctx context.Context, corpusKey string, q Query) (page []Document, more bool, err error) {
	c, err := corpus.Find(ctx, s.corpora, corpusKey)
	if err != nil {
		return nil, false, err
	}
	want, err := compile(&c, q.Filter)
	if err != nil {
		return nil, false, err
	}
	size := q.Limit + 1
	if want.filter != nil {
		size = max(size, scanned)
	}
	read := func(after string) ([]Document, error) {
		return s.store.List(ctx, c.No, List{Limit: size, After: after})
	}
	if want.limited {
		read = func(after string) ([]Document, error) { return s.byID(ctx, c.No, want.ids, after, size) }
	}
	for after := q.After; ; {
		docs, err := read(after)
		if err != nil {
			return nil, false, fmt.Errorf("list documents of %s: %w", c.Key, err)
		}
		for i := range docs {
			if ok, err := want.match(&docs[i]); err != nil {
				return nil, false, err
			} else if !ok {
				continue
			}
			if len(page) == q.Limit {
				return page, true, nil
			}
			page = append(page, docs[i])
		}
		if len(docs) < size {
			return page, false, nil
		}
		after = docs[len(docs)-1].ID
	}
}

// byID is Store.List over a few documents known by id, in ascending order.
func (s *Service) byID(ctx context.Context, corpusNo int64, ids []string, after string, limit int) (out []Document, err error) {
	for _, id := range ids {
		if id <= after || !Possible(id) || len(out) == limit {
			continue
		}
		d, err := s.store.Get(ctx, corpusNo, id, false)
		switch {
		case err == nil:
			out = append(out, *d)
		case !fault.Is(err, fault.KindNotFound):
			return nil, err
		}
	}
	return out, nil
}

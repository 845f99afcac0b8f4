package documents

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"quarry/internal/corpus/document"
	"quarry/internal/fault"
	"quarry/internal/store"
)

// headColumns are the columns of documents d that scanHead reads.
const headColumns = `d.no, d.id, d.title, d.metadata, d.tables, d.images, d.digest, d.bytes, d.metadata_bytes, d.created, d.updated`

// ofCurrent joins a document to its corpus, whose number is $1.
const ofCurrent = ` FROM documents d JOIN corpora c ON c.shelf = d.shelf WHERE c.no = $1`

func scanHead(r store.Row) (d document.Document, err error) {
	var tables, images string
	err = r.Scan(&d.No, &d.ID, &d.Title, (*[]byte)(&d.Metadata), &tables, &images, &d.Digest, &d.Usage.Bytes, &d.Usage.MetadataBytes,
		store.Micros(&d.Created), store.Micros(&d.Updated))
	if err != nil {
		return d, err
	}
	if tables != "" {
		if err := json.Unmarshal([]byte(tables), &d.Tables); err != nil {
			return d, fmt.Errorf("read tables of document %d: %w", d.No, err)
		}
	}
	if images != "" {
		var heads []imageHead
		if err := json.Unmarshal([]byte(images), &heads); err != nil {
			return d, fmt.Errorf("read images of document %d: %w", d.No, err)
		}
		for _, h := range heads {
			d.Images = append(d.Images, document.Image{ID: h.ID, Title: h.Title, Caption: h.Caption, Description: h.Description, MimeType: h.MimeType})
		}
	}
	return d, nil
}

// micros returns a time as it is stored; 0 is the zero time, of rows from before times were kept.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// scanPart reads partColumns, and the vector where the query asks for it.
func scanPart(r store.Row, vector bool, before ...any) (no int64, p document.Part, err error) {
	var dimensions string
	dest := append(before, &no, &p.Ord, &p.Text, &p.Heading, &p.Context, (*[]byte)(&p.Metadata), &p.Lang, &p.IsTitle,
		&dimensions, &p.TableID, &p.ImageID, &p.Gap)
	if vector {
		dest = append(dest, &p.Vector)
	}
	if err := r.Scan(dest...); err != nil {
		return 0, p, err
	}
	if dimensions != "" {
		if err := json.Unmarshal([]byte(dimensions), &p.Dimensions); err != nil {
			return 0, p, fmt.Errorf("read dimensions of part %d of document %d: %w", p.Ord, no, err)
		}
	}
	return no, p, nil
}

// Get reads a document, with its parts (without vectors) when parts is set; images come without their bytes.
func (s *Store) Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*document.Document, error) {
	if !parts {
		return head(s.db.Reader(ctx), corpusNo, docID)
	}
	var d *document.Document
	err := s.db.Read(ctx, func(q store.Querier) (err error) {
		if d, err = head(q, corpusNo, docID); err != nil {
			return err
		}
		return store.Each(q, "read parts", func(r store.Row) error {
			_, p, err := scanPart(r, false)
			d.Parts = append(d.Parts, p)
			return err
		}, `SELECT `+partColumns+` FROM parts WHERE doc_no = $1 ORDER BY ord`, d.No)
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Whole reads a document with its parts and their vectors. See document.Store.
func (s *Store) Whole(ctx context.Context, corpusNo int64, docID string) (d *document.Document, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		docs, err := whole(q, ` AND d.id = $2`, []any{corpusNo, docID})
		if err != nil {
			return err
		}
		if len(docs) == 0 {
			return missing(docID)
		}
		d = &docs[0]
		return nil
	})
	return d, err
}

func head(q store.Querier, corpusNo int64, docID string) (*document.Document, error) {
	d, err := scanHead(q.QueryRow(`SELECT `+headColumns+ofCurrent+` AND d.id = $2`, corpusNo, docID))
	if err != nil {
		return nil, store.OrNone(err, missing(docID), "read document")
	}
	return &d, nil
}

// Image reads an image of a document with its bytes; the fault "image_not_found" when there is none.
func (s *Store) Image(ctx context.Context, corpusNo int64, docID, imageID string) (document.Image, error) {
	var out document.Image
	err := s.db.Read(ctx, func(q store.Querier) error {
		d, err := head(q, corpusNo, docID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(d.Images, func(m document.Image) bool { return m.ID == imageID })
		if i < 0 {
			return fault.NotFound("image_not_found", imageID, "document %s has no image %s", docID, imageID)
		}
		out = d.Images[i]
		err = q.QueryRow(`SELECT data FROM images WHERE doc_no = $1 AND ord = $2`, d.No, i).Scan(&out.Data)
		return store.Wrap(err, "read image")
	})
	return out, err
}

// List reads documents without parts, ascending by the bytes of their ids, from the id after l.After on.
func (s *Store) List(ctx context.Context, corpusNo int64, l document.List) ([]document.Document, error) {
	return store.Select(s.db.Reader(ctx), "list documents", scanHead,
		`SELECT `+headColumns+ofCurrent+` AND d.id > $2 ORDER BY d.id LIMIT $3`,
		corpusNo, l.After, max(l.Limit, 0))
}

// loadStep is how many documents one pair of statements of Load reads.
const loadStep = 512

// Load reads whole documents, vectors included, by row number; those that no longer exist are left out.
func (s *Store) Load(ctx context.Context, corpusNo int64, nos []int64) (out []document.Document, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		out = nil
		for some := range slices.Chunk(nos, loadStep) {
			args := padded(store.Args([]any{corpusNo}, some), 1)
			docs, err := whole(q, ` AND d.no IN (`+store.List(2, len(args)-1)+`)`, args)
			if err != nil {
				return err
			}
			out = append(out, docs...)
		}
		return nil
	})
	return out, err
}

// Heads reads documents without parts by row number, in order of No.
func (s *Store) Heads(ctx context.Context, corpusNo int64, nos []int64) (out []document.Document, err error) {
	for some := range slices.Chunk(nos, loadStep) {
		args := padded(store.Args([]any{corpusNo}, some), 1)
		docs, err := store.Select(s.db.Reader(ctx), "read documents", scanHead,
			`SELECT `+headColumns+ofCurrent+` AND d.no IN (`+store.List(2, len(args)-1)+`)`, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, docs...)
	}
	slices.SortFunc(out, func(a, b document.Document) int { return cmp.Compare(a.No, b.No) })
	return out, nil
}

// Scan reads whole documents with No > after in order of No, at most limit, with the corpus's sequence number and
// epoch as of the same snapshot. A reader that pages must follow the changes from the first page's number on: on
// PostgreSQL a document may be committed later than one with a higher No.
func (s *Store) Scan(ctx context.Context, corpusNo, after int64, limit int) (docs []document.Document, seq, epoch int64, err error) {
	err = s.db.Read(ctx, func(q store.Querier) error {
		var last sql.NullInt64
		err := q.QueryRow(`SELECT c.seq, c.epoch, (SELECT MAX(no) FROM (
				SELECT no FROM documents WHERE shelf = c.shelf AND no > $2 ORDER BY no LIMIT $3) AS page)
			FROM corpora c WHERE c.no = $1`, corpusNo, after, max(limit, 0)).Scan(&seq, &epoch, &last)
		if err != nil {
			return noCorpus(err, corpusNo)
		}
		if !last.Valid {
			return nil
		}
		docs, err = whole(q, ` AND d.no > $2 AND d.no <= $3`, []any{corpusNo, after, last.Int64})
		return err
	})
	return docs, seq, epoch, err
}

// whole reads the documents that a condition chooses, in order of No, with one statement for their heads and one for
// their parts.
func whole(q store.Querier, condition string, args []any) ([]document.Document, error) {
	docs, err := store.Select(q, "read documents", scanHead,
		`SELECT `+headColumns+ofCurrent+condition+` ORDER BY d.no`, args...)
	if err != nil {
		return nil, err
	}
	at := 0
	err = store.Each(q, "read parts", func(r store.Row) error {
		no, p, err := scanPart(r, true)
		if err != nil {
			return err
		}
		for docs[at].No != no { // same snapshot, same order: the document is there
			at++
		}
		docs[at].Parts = append(docs[at].Parts, p)
		return nil
	}, `SELECT `+qualified+`, p.vector FROM documents d JOIN corpora c ON c.shelf = d.shelf
		JOIN parts p ON p.doc_no = d.no WHERE c.no = $1`+condition+` ORDER BY d.no, p.ord`, args...)
	if err != nil {
		return nil, err
	}
	return docs, nil
}

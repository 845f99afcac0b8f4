package documents

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"quarry/internal/clock"
	"quarry/internal/corpus/document"
	"quarry/internal/store"
)

// record is a document in the form of its rows, with what it adds to its corpus's usage.
type record struct {
	d              *document.Document
	tables, images string
	dimensions     []string // per part
	characters     int64    // code points of texts and metadata
	metadata       int64    // the share of metadata
	now            int64    // microseconds, as the next two
	created        int64
	updated        int64
}

// imageHead is an image without its bytes, as documents.images keeps it.
type imageHead struct {
	ID          string `json:"id"`
	Title       string `json:"title,omitempty"`
	Caption     string `json:"caption,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
}

func encode(d *document.Document) (r *record, err error) {
	r = &record{d: d, dimensions: make([]string, len(d.Parts)), now: clock.Now().UnixMicro()}
	r.created, r.updated = r.now, r.now
	heads := make([]imageHead, len(d.Images))
	for i, m := range d.Images {
		heads[i] = imageHead{m.ID, m.Title, m.Caption, m.Description, m.MimeType}
	}
	if r.images, err = list(heads); err != nil {
		return r, fmt.Errorf("encode images: %w", err)
	}
	if r.tables, err = list(d.Tables); err != nil {
		return r, fmt.Errorf("encode tables: %w", err)
	}
	r.metadata = int64(utf8.RuneCount(d.Metadata))
	for i, p := range d.Parts {
		if p.Ord != i {
			return r, fmt.Errorf("write document %q: part %d has place %d", d.ID, i, p.Ord)
		}
		if r.dimensions[i], err = list(p.Dimensions); err != nil {
			return r, fmt.Errorf("encode dimensions of part %d: %w", i, err)
		}
		r.metadata += int64(utf8.RuneCount(p.Metadata))
		r.characters += int64(utf8.RuneCountInString(p.Text))
	}
	r.characters += r.metadata
	return r, nil
}

// list returns the JSON of a list, "" for an empty one.
func list[T any](all []T) (string, error) {
	if len(all) == 0 {
		return "", nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // table cells stay as they were sent
	err := e.Encode(all)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// insertHead writes the row of the document, or returns *document.Exists. A second try is for an id that was freed
// between the two statements, which only PostgreSQL can show.
func (r *record) insertHead(tx *store.Tx, generation int64) (no int64, err error) {
	d := r.d
	taken := &document.Exists{ID: d.ID}
	for range 2 {
		err = tx.QueryRow(`
			INSERT INTO documents (shelf, id, title, metadata, tables, images, digest, bytes, metadata_bytes, parts, characters,
				metadata_characters, created, updated)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT (shelf, id) DO NOTHING RETURNING no`,
			generation, d.ID, d.Title, object(d.Metadata), r.tables, r.images, d.Digest, d.Usage.Bytes, d.Usage.MetadataBytes,
			int64(len(d.Parts)), r.characters, r.metadata, r.created, r.updated).Scan(&no)
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		err = tx.QueryRow(`SELECT digest FROM documents WHERE shelf = $1 AND id = $2`, generation, d.ID).Scan(&taken.Digest)
		if err == nil {
			return 0, taken
		}
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
	}
	if err != nil {
		return 0, store.OrNone(err, taken, "write document")
	}
	return no, nil
}

func object(m json.RawMessage) string {
	if len(m) == 0 {
		return "{}"
	}
	return string(m)
}

// partColumns are the columns of parts but the vector; readParts scans them in this order.
const partColumns = `doc_no, ord, text, heading, context, metadata, lang, is_title, dimensions, table_id, image_id, gap`

// rowsPerStatement keeps well below the 32,766 parameters of SQLite; more rows gain nothing measurable.
const rowsPerStatement = 32

func (r *record) insertBody(tx *store.Tx, no int64) error {
	for from := 0; from < len(r.d.Parts); from += rowsPerStatement {
		some := r.d.Parts[from:min(from+rowsPerStatement, len(r.d.Parts))]
		args := make([]any, 0, 13*len(some))
		for _, p := range some {
			args = append(args, no, p.Ord, p.Text, p.Heading, p.Context, object(p.Metadata), p.Lang, p.IsTitle,
				r.dimensions[p.Ord], p.TableID, p.ImageID, p.Gap, p.Vector)
		}
		if err := tx.Exec(insertParts[len(some)], args...); err != nil {
			return fmt.Errorf("write parts: %w", err)
		}
	}
	for i, m := range r.d.Images {
		data := m.Data
		if data == nil {
			data = []byte{}
		}
		if err := tx.Exec(`INSERT INTO images (doc_no, ord, data) VALUES ($1, $2, $3)`, no, i, data); err != nil {
			return fmt.Errorf("write image: %w", err)
		}
	}
	return r.insertFile(tx, no)
}

// insertParts[n] inserts n parts.
var insertParts = inserts(`INSERT INTO parts (`+partColumns+`, vector) VALUES `, 13)

// tally returns what the document, under its number, adds to its corpus.
func (r *record) tally(no int64) tally {
	return tally{op: document.OpPut, nos: []int64{no}, documents: 1, parts: int64(len(r.d.Parts)),
		characters: r.characters, metadata: r.metadata}
}

// windows returns the rows "(k, doc_no, lo, hi)" of n windows as parameters from $1 on. The casts tell PostgreSQL the types.
func windows(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('(')
		for j := range 4 {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString("CAST($" + strconv.Itoa(4*i+j+1) + " AS BIGINT)")
		}
		b.WriteByte(')')
	}
	return b.String()
}

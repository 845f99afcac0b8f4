// Package document holds stored documents and their parts: how they are listed, read, filtered, changed and removed. It
// does not make parts (package draft does), encode (package ingest) or search (packages replica and retrieve).
package document

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/metadata"
	"quarry/internal/corpus/table"
	"quarry/internal/index/vector"
)

// Document is a stored document. No is the store's row number: an id that is used again gets a new one. It is never shown.
type Document struct {
	No       int64
	ID       string
	Title    string          // of a structured document or a file; "" otherwise
	Metadata json.RawMessage // compact JSON object exactly as sent, native types kept; never nil
	Tables   []Table
	Images   []Image
	Parts    []Part
	Digest   string // SHA-256 of what the client sent, to tell an identical repeat from a different one
	Usage    StorageUsage
	File     *File     // to be kept with the document, whose content is held; nil for none, and when it is read
	Created  time.Time // by the store; zero in documents from before it was kept
	Updated  time.Time // by the store: grows with every change, so it identifies a state of the document
}

// Part is one embedding and one possible result. Its place in the document is Ord, from 0 without gaps.
type Part struct {
	Ord        int
	Text       string
	Heading    string          // title in force for this part: embedded in front of Text and indexed with it; not shown
	Context    string          // the client's surrounding text (core documents), "" when none
	Metadata   json.RawMessage // compact JSON object: the client's keys and the platform's (lang, section, …); never nil
	Lang       string          // ISO 639-3, "" when unknown; equals Metadata's "lang" unless the client's is not a string
	IsTitle    bool
	Dimensions []float64 // by ordinal of corpus.Dimensions; nil when the corpus has none
	TableID    string
	ImageID    string
	Gap        string // what stands between the previous part and this one when both are shown: source white space, else " "
	Vector     []byte // vector.Pack of the encoder's output; nil before encoding
}

// Values returns the vector of the part up to the rounding of its stored form; nil for one that is not encoded.
func (p *Part) Values() ([]float32, error) {
	if len(p.Vector) == 0 {
		return nil, nil
	}
	v, err := vector.Unpack(p.Vector)
	if err != nil {
		return nil, fmt.Errorf("part %d: %w", p.Ord, err)
	}
	return v, nil
}

// Between returns the white space between two neighbouring parts of a document that are shown together. A title is a paragraph of
// its own, so that it does not read as the beginning of the next sentence.
func Between(before, after *Part) string {
	if before.IsTitle || after.IsTitle {
		return "\n\n"
	}
	return after.Gap
}

// Text returns the text of all parts, with titles as paragraphs of their own.
func (d *Document) Text() string {
	var b strings.Builder
	for i := range d.Parts {
		if i > 0 {
			b.WriteString(Between(&d.Parts[i-1], &d.Parts[i]))
		}
		b.WriteString(d.Parts[i].Text)
	}
	return b.String()
}

// StorageUsage is what a document adds to its corpus, in bytes of UTF-8.
type StorageUsage struct {
	Bytes         int64 // texts + document metadata + part metadata
	MetadataBytes int64
}

// Table is a table as the client sent it or a parser found it; Data keeps headers and rows in wire form.
type Table struct {
	ID          string          `json:"id"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Data        json.RawMessage `json:"data,omitempty"`
	Page        int             `json:"-"` // of the file it was found in, 0 when unknown; shown by its parts, not kept
}

// Markdown returns the cells of the table as Markdown; see table.Markdown.
func (t *Table) Markdown() string { return table.Markdown(t.Data) }

// Beginning returns the table with about this share of its rows; see table.Beginning.
func (t *Table) Beginning(share float64) (Table, bool) {
	out := *t
	var ok bool
	out.Data, ok = table.Beginning(t.Data, share)
	return out, ok
}

// Image is an image inside a document; Data is its bytes.
type Image struct {
	ID          string
	Title       string
	Caption     string
	Description string
	MimeType    string
	Data        []byte
	Page        int // of the file it was found in, 0 when unknown; shown by its part, not kept
}

// Words returns what a text search can know of an image (contract: Images).
func (m *Image) Words() string { return JoinTitles(m.Title, m.Caption, m.Description) }

// JoinTitles joins titles with ". ", leaving out empty ones and a repetition of the one before.
func JoinTitles(titles ...string) string {
	var out []string
	for _, t := range titles {
		if t != "" && (len(out) == 0 || out[len(out)-1] != t) {
			out = append(out, t)
		}
	}
	return strings.Join(out, ". ")
}

// Draft is a document as a client sent it, before it is divided into parts: see package draft.
type Draft interface {
	// Build returns the document for corpus c with its parts, which are not encoded yet. Bad input is fault.KindInvalid
	// with the path of each field at fault.
	Build(c corpus.Corpus) (*Document, error)
}

// Op is the kind of a change.
type Op uint8

// The operations of a corpus's change sequence.
const (
	OpPut     Op = 1 // a document was created; No names it
	OpDelete  Op = 2 // a document was removed; No names what it was
	OpReset   Op = 3 // every document was removed
	OpUpdate  Op = 4 // a document's metadata changed; No stays
	OpReplace Op = 5 // a document was created in place of another; No names the new one, Old the other
)

// Change is one entry of a corpus's change sequence. Numbers are dense and in commit order.
type Change struct {
	Seq int64
	Op  Op
	No  int64 // 0 for OpReset
	Old int64 // 0 but for OpReplace
}

// Outcome is the result of an Edit.
type Outcome uint8

// The outcomes of an edit.
const (
	Missing   Outcome = iota // no document has this id or number
	Updated                  // the metadata changed
	Unchanged                // it already had this metadata
	Newer                    // the document is newer than Cutoff
	Refused                  // Err is the reason
)

// Edit is an amendment of one document, named by No or else by ID. Outcome and Err are for Store.Amend to set.
type Edit struct {
	No        int64
	ID        string
	Amendment metadata.Amendment
	Cutoff    time.Time // only a document created or updated at this time or before is changed; zero = any
	Outcome   Outcome
	Err       error
}

// Ref names a part for reading.
type Ref struct {
	No  int64
	Ord int
}

// Window is how many parts around a part to read.
type Window struct {
	Before, After int
	Whole         bool // every part of the document
}

// Passage is a part in its surroundings.
type Passage struct {
	Ref      Ref
	Document Document // without parts and images' data
	Parts    []Part   // a run of parts in order, without vectors; one of them has Ord == Ref.Ord
}

// List selects the documents to list, ascending by the bytes of their ids.
type List struct {
	Limit int
	After string // last id shown, "" for the first page
}

// Store keeps documents. Every method names the corpus by its row number.
type Store interface {
	// Insert commits d with its parts as one change and returns it with No, Created and Updated set and the change's
	// number; the write is durable when Insert returns. epoch is the corpus's at the time of the request: if it has changed
	// since by a reset or delete, Insert returns fault.KindConflict "corpus_changed". A taken id is *Exists.
	Insert(ctx context.Context, corpusNo, epoch int64, d *Document) (seq int64, err error)
	// Replace is Insert for an id that may be taken: the document that has it goes in the same change (OpReplace), and d
	// has its Created. Who reads sees one of the two, never both or neither.
	Replace(ctx context.Context, corpusNo, epoch int64, d *Document) (seq int64, err error)
	// Delete removes a document as one change if it is still as in seen, the result of a Get: fault.KindNotFound
	// "document_not_found" when there is none, fault.KindConflict "document_changed" when another has its id or its
	// metadata was changed since, and "corpus_changed" when epoch is not the corpus's any more.
	Delete(ctx context.Context, corpusNo, epoch int64, seen *Document) (seq int64, err error)
	// DeleteMany removes the documents with these ids in one transaction, each as one change, and counts them; unknown
	// ids are skipped, and so are documents created or updated after cutoff unless it is zero. Epoch is as in
	// Insert. seq is the corpus's number afterwards. A few hundred ids at a time keep other writes from waiting long.
	DeleteMany(ctx context.Context, corpusNo, epoch int64, ids []string, cutoff time.Time) (seq int64, deleted int, err error)
	// Amend changes the metadata of documents in one transaction, each as one OpUpdate, and sets every edit's Outcome;
	// an edit without effect is not a change of the sequence. Epoch and seq are as in DeleteMany.
	Amend(ctx context.Context, corpusNo, epoch int64, edits []Edit) (seq int64, err error)
	// Image reads an image of a document with its bytes; fault.KindNotFound "image_not_found" or "document_not_found".
	Image(ctx context.Context, corpusNo int64, docID, imageID string) (Image, error)
	// File returns the file that a document was read from; fault.KindNotFound "file_not_found" or "document_not_found".
	File(ctx context.Context, corpusNo int64, docID string) (File, error)
	// Get reads a document, with its parts (without vectors) when parts is set.
	Get(ctx context.Context, corpusNo int64, docID string, parts bool) (*Document, error)
	// Whole reads a document with its parts and their vectors, all of one version of it.
	Whole(ctx context.Context, corpusNo int64, docID string) (*Document, error)
	// Kin reads the documents that a new one with this id and digest may share vectors with: the one that has the id,
	// whose head it returns, nil when there is none, and the newest one with the digest, which may be one that was
	// replaced within ReplacedFor. It hands their parts, vectors included, to visit, each with the number of its document.
	// All is of one snapshot.
	Kin(ctx context.Context, corpusNo int64, docID, digest string, visit func(no int64, p *Part) error) (*Document, error)
	// List reads documents without parts, from the id after l.After on, at most l.Limit.
	List(ctx context.Context, corpusNo int64, l List) ([]Document, error)
	// Changes reads changes with after < Seq ≤ upto in order, at most limit. missing reports that numbers after
	// `after` have been trimmed, so the reader must rebuild from Scan.
	Changes(ctx context.Context, corpusNo, after, upto int64, limit int) (changes []Change, missing bool, err error)
	// Heads reads documents without parts by row number, in order of No; those that no longer exist are left out.
	Heads(ctx context.Context, corpusNo int64, nos []int64) ([]Document, error)
	// Load reads whole documents, vectors included, by row number; those that no longer exist are left out.
	Load(ctx context.Context, corpusNo int64, nos []int64) ([]Document, error)
	// Scan reads whole documents with No > after in order of No, at most limit, with the corpus's sequence number and
	// epoch as of the same snapshot.
	Scan(ctx context.Context, corpusNo, after int64, limit int) (docs []Document, seq, epoch int64, err error)
	// Passages reads, for each ref, the part with its neighbours as w asks and its document's head, in the order of
	// refs; refs whose document no longer exists are left out. One that was replaced counts as existing for ReplacedFor,
	// as long as its successor is there. Two statements in all, and one more where a document is missing.
	Passages(ctx context.Context, corpusNo int64, refs []Ref, w Window) ([]Passage, error)
}

// ReplacedFor is how long Passages still reads a document that was replaced. A query whose search found the old one reads
// its text in that time; without it the query would show neither.
const ReplacedFor = time.Minute

// Exists is the error of Insert for a taken id.
type Exists struct {
	ID     string
	Digest string // of the stored document
}

func (e *Exists) Error() string { return "document id '" + e.ID + "' already exists" }

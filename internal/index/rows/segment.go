// Package rows holds the documents and rows of a segment, one row per part: how they are built from documents, bound to
// the sections of a file, merged, filtered, and which of them are live. It knows nothing of files beyond their sections
// and of searches beyond filters; package index calls it.
package rows

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/lists"
	"quarry/internal/index/postings"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
)

// Shape is what all segments of an index have in common.
type Shape struct {
	Rotation   *vector.Rotation // nil = rows have no vectors
	Dimensions int              // custom dimensions per row
	ListsFrom  int              // rows from which on a segment has inverted lists of its vectors; 0 = lists.From
	// Pause is called between blocks of long work, such as a merge: there it may wait, and its error ends the work. It may
	// be nil.
	Pause func() error
}

// pause calls Pause.
func (h Shape) pause() error {
	if h.Pause == nil {
		return nil
	}
	return h.Pause()
}

// Segment is an immutable set of documents, each with a run of rows, one per part. Its slices lie in File. Numbers in
// them are little-endian, of 4 bytes where nothing else is noted.
type Segment struct {
	File    *segment.File
	Rows    int
	Docs    int
	Stems   *postings.Field
	Words   *postings.Field
	Forward *postings.Forward
	Norms   []byte // per row: its number of scoring terms as one byte
	Vectors *vector.Rows
	Lists   *lists.Lists // of the vectors; nil = none
	Dims    []byte       // per row: custom dimensions
	Values  *layer.Set   // as of its making, nil for one from a file; searches use those of the view
	no      []byte       // per document: its number, 8 bytes
	byNo    []byte       // ordinals of documents by number
	first   []byte       // per document: its first row, and the end
	idAt    []byte       // offsets into ids
	ids     []byte
	owner   []byte // per row: ordinal of the document
	ord     []byte // per row: ordinal in the document
	length  []byte // per row: number of scoring terms
}

// Meta is the section of a file that states what it is of.
type Meta struct {
	Rows    int           `json:"rows"`
	Docs    int           `json:"docs"`
	Epoch   int64         `json:"epoch"`
	Encoder string        `json:"encoder"`
	Schema  int64         `json:"schema"`
	Limits  vector.Limits `json:"limits"`
}

func le32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// No returns the number of document d.
func (s *Segment) No(d int) int64 { return int64(binary.LittleEndian.Uint64(s.no[8*d:])) }

// DocOf returns the document of a row.
func (s *Segment) DocOf(row int) int { return int(le32(s.owner, row)) }

// OrdOf returns the place of a row in its document.
func (s *Segment) OrdOf(row int) int { return int(le32(s.ord, row)) }

// Run returns the rows of document d, from the first to behind the last.
func (s *Segment) Run(d int) (from, to int) { return int(le32(s.first, d)), int(le32(s.first, d+1)) }

// ID returns the bytes of the id of document d, in the file.
func (s *Segment) ID(d int) []byte { return s.ids[le32(s.idAt, d):le32(s.idAt, d+1)] }

// Find returns the document with a number.
func (s *Segment) Find(no int64) (d int, ok bool) {
	i := sort.Search(s.Docs, func(i int) bool { return s.No(int(le32(s.byNo, i))) >= no })
	if i == s.Docs {
		return 0, false
	}
	d = int(le32(s.byNo, i))
	return d, s.No(d) == no
}

// Addressed returns the bytes of s that are found by offsets of 32 bits. A merge must not make more than these can hold.
func (s *Segment) Addressed() (bytes int64) {
	for _, x := range s.File.Sections() {
		if !strings.HasPrefix(x.Name, "vec.") {
			bytes = max(bytes, int64(len(x.Data)))
		}
	}
	return bytes
}

// Sections returns all of s for a file of that epoch and encoder.
func (s *Segment) Sections(epoch int64, encoder string) ([]segment.Section, error) {
	rest, err := s.rest(epoch, encoder)
	return append(rest, s.File.Sections()...), err
}

// rest returns those sections of s for a file of that epoch and encoder that s lacks in memory: Meta and summaries.
func (s *Segment) rest(epoch int64, encoder string) ([]segment.Section, error) {
	m := Meta{Rows: s.Rows, Docs: s.Docs, Epoch: epoch, Encoder: encoder, Schema: s.Values.Schema().Version}
	if s.Vectors != nil {
		m.Limits = s.Vectors.Limits
	}
	head, err := m.section()
	if err != nil {
		return nil, err
	}
	out := []segment.Section{head}
	for i, c := range s.Values.Columns() {
		out = appendSummary(out, i, c)
	}
	return out, nil
}

// appendSummary appends the summary of the column of an attribute if it has one. Segments in memory are too small to need any.
func appendSummary(to []segment.Section, attr int, c *column.Column) []segment.Section {
	if b := c.Summary(); b != nil {
		to = append(to, section(summaryName(attr), b))
	}
	return to
}

// ColumnSections returns the newest values of v, as whole columns, for a file of that epoch and encoder.
func (v *View) ColumnSections(epoch int64, encoder string) ([]segment.Section, error) {
	whole, of := v.Values.Columns(), v.Values.Schema()
	head, err := Meta{Rows: v.Rows, Docs: v.Docs, Epoch: epoch, Encoder: encoder, Schema: of.Version}.section()
	if err != nil {
		return nil, err
	}
	out := []segment.Section{head}
	for i, c := range whole {
		out = appendSummary(append(out, section(columnName(i), c.Bytes())), i, c)
	}
	return out, nil
}

// section returns m as the first section of a file.
func (m Meta) section() (segment.Section, error) {
	head, err := json.Marshal(m)
	if err != nil {
		return segment.Section{}, fmt.Errorf("write segment: %w", err)
	}
	return section("meta", head), nil
}

// ReadMeta returns the section of a file that states what it is of.
func ReadMeta(file *segment.File) (m Meta, err error) {
	b := binder{file: file}
	if err := json.Unmarshal(b.get("meta", -1), &m); err != nil {
		b.fail("meta", err.Error())
	}
	return m, b.err
}

// columnName returns the name of the section with the column of an attribute.
func columnName(attr int) string { return "col." + strconv.Itoa(attr) }

// summaryName returns the name of the section with the summary of that column.
func summaryName(attr int) string { return "sum." + strconv.Itoa(attr) }

// Bind returns the segment that the sections of file hold, after it has checked their sizes. It has no values.
func (h Shape) Bind(file *segment.File, m Meta) (*Segment, error) {
	b := binder{file: file}
	s := &Segment{File: file, Rows: m.Rows, Docs: m.Docs}
	s.no, s.byNo = b.get("doc.no", 8*m.Docs), b.get("doc.byno", 4*m.Docs)
	s.first, s.idAt, s.ids = b.get("doc.first", 4*(m.Docs+1)), b.get("doc.idat", 4*(m.Docs+1)), b.get("doc.id", -1)
	s.owner, s.ord = b.get("row.doc", 4*m.Rows), b.get("row.ord", 4*m.Rows)
	s.length, s.Norms = b.get("row.length", 4*m.Rows), b.get("row.norm", m.Rows)
	s.Stems, s.Words = b.field("stem"), b.field("word")
	if s.Stems.Bounds = b.optional("stem.bounds"); !s.Stems.BoundsFit() {
		b.fail("stem.bounds", "not of these lists")
	}
	s.Forward = &postings.Forward{Offsets: b.get("row.stemat", 4*(m.Rows+1)), Data: b.get("row.stem", -1)}
	s.Dims = b.get("row.dims", 4*m.Rows*h.Dimensions)
	if h.Rotation != nil {
		w := h.Rotation.Width()
		s.Vectors = &vector.Rows{Rotation: h.Rotation, Limits: m.Limits, Planes: vector.Planes{
			Hi: b.get("vec.hi", w*m.Rows), Lo: b.get("vec.lo", w*m.Rows), Scale: b.get("vec.scale", 4*m.Rows),
		}}
		if low := file.Part("vec.lo"); low != nil {
			s.Vectors.Low = low
		}
		if b.err == nil {
			s.Lists = b.lists(s.Vectors)
		}
	}
	return s, b.err
}

// BindColumns returns the values that the columns in file hold, for a segment of so many documents and rows.
func BindColumns(file *segment.File, of *layer.Schema, docs, rows int) (*layer.Set, error) {
	b := binder{file: file}
	columns := make([]*column.Column, len(of.Attrs))
	for i, a := range of.Attrs {
		n := rows
		if a.Level == filter.Document {
			n = docs
		}
		c, err := column.Open(b.get(columnName(i), -1))
		if b.err != nil {
			return nil, b.err
		}
		if err != nil || c.Len() != n || c.Type() != a.Type {
			b.fail(columnName(i), "not a column of this segment")
			return nil, b.err
		}
		if sum := b.optional(summaryName(i)); sum != nil {
			if c, err = c.Summarised(sum); err != nil {
				b.fail(summaryName(i), "not of this column")
				return nil, b.err
			}
		}
		columns[i] = c
	}
	return layer.New(of, columns), nil
}

// binder takes sections of known sizes out of a file.
type binder struct {
	file *segment.File
	err  error
}

func (b *binder) fail(section, reason string) {
	if b.err == nil {
		b.err = &segment.Corrupt{File: b.file.Name, Section: section, Reason: reason}
	}
}

// get returns a section of size bytes, of any size when size is -1. That a section is newer is the error whatever else is
// wrong: the other sections may be newer with it.
func (b *binder) get(name string, size int) []byte {
	s := b.file.Section(name)
	switch {
	case s.Version > version(name):
		b.err = &segment.Newer{File: b.file.Name, Section: name, Version: int(s.Version)}
	case s.Version == 0:
		b.fail(name, "missing")
	case size >= 0 && len(s.Data) != size:
		b.fail(name, fmt.Sprintf("%d bytes, want %d", len(s.Data), size))
	}
	return s.Data
}

// optional returns a section that can be done without; nil when there is none, or only a newer version.
func (b *binder) optional(name string) []byte {
	if s := b.file.Section(name); s.Version <= version(name) {
		return s.Data
	}
	return nil
}

func (b *binder) field(name string) *postings.Field {
	return &postings.Field{
		Dict: b.get(name+".dict", -1), Index: b.get(name+".index", -1), Terms: b.get(name+".terms", -1),
		Heads: b.get(name+".heads", -1), Posts: b.get(name+".posts", -1), Positions: b.get(name+".positions", -1),
	}
}

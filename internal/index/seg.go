package index

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sort"
	"strconv"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/postings"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
)

// seg is one immutable segment: documents, each with a run of rows, one per part. Its slices lie in file.
type seg struct {
	file    *segment.File
	path    string // "" in memory
	of      int64  // version of the attributes whose columns are in file
	number  int    // of the file
	refs    int    // states that hold it; guarded by Index.mu
	rows    int
	docs    int
	no      []byte // per document: its number
	byNo    []byte // ordinals of documents by number
	first   []byte // per document: its first row, and the end
	idAt    []byte // offsets into ids
	ids     []byte
	owner   []byte // per row: ordinal of the document
	ord     []byte // per row: ordinal in the document
	length  []byte // per row: number of scoring terms
	norm    []byte // per row: the same as one byte
	stems   *postings.Field
	words   *postings.Field
	forward *postings.Forward
	vectors *vector.Rows
	dims    []byte     // per row: custom dimensions
	values  *layer.Set // as of its making; what searches use is in the view
}

// meta is the section that says what a file is of.
type meta struct {
	Rows    int           `json:"rows"`
	Docs    int           `json:"docs"`
	Epoch   int64         `json:"epoch"`
	Encoder string        `json:"encoder"`
	Schema  int64         `json:"schema"`
	Limits  vector.Limits `json:"limits"`
}

func le32(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

func (s *seg) docNo(d int) int64 { return int64(binary.LittleEndian.Uint64(s.no[8*d:])) }

func (s *seg) docOf(row int) int { return int(le32(s.owner, row)) }

func (s *seg) ordOf(row int) int { return int(le32(s.ord, row)) }

// run gives the rows of a document.
func (s *seg) run(d int) (from, to int) { return int(le32(s.first, d)), int(le32(s.first, d+1)) }

// id gives the bytes of a document's id, in the file.
func (s *seg) id(d int) []byte { return s.ids[le32(s.idAt, d):le32(s.idAt, d+1)] }

// find gives the ordinal of the document with a number.
func (s *seg) find(no int64) (d int, ok bool) {
	i := sort.Search(s.docs, func(i int) bool { return s.docNo(int(le32(s.byNo, i))) >= no })
	if i == s.docs {
		return 0, false
	}
	d = int(le32(s.byNo, i))
	return d, s.docNo(d) == no
}

// sections lists all of s for a file, metadata first.
func (x *Index) sections(s *seg) ([]segment.Section, error) {
	m := meta{Rows: s.rows, Docs: s.docs, Epoch: x.cfg.Epoch, Encoder: x.cfg.Encoder, Schema: s.values.Schema().Version}
	if s.vectors != nil {
		m.Limits = s.vectors.Limits
	}
	head, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write segment: %w", err)
	}
	return append([]segment.Section{{Name: "meta", Data: head}}, s.file.Sections()...), nil
}

func columnName(attr int) string { return "col." + strconv.Itoa(attr) }

// bind gives s its typed views of the sections of file, after it has checked their sizes.
func (x *Index) bind(file *segment.File, m meta) (*seg, error) {
	b := binder{file: file}
	s := &seg{file: file, rows: m.Rows, docs: m.Docs}
	s.no, s.byNo = b.get("doc.no", 8*m.Docs), b.get("doc.byno", 4*m.Docs)
	s.first, s.idAt, s.ids = b.get("doc.first", 4*(m.Docs+1)), b.get("doc.idat", 4*(m.Docs+1)), b.get("doc.id", -1)
	s.owner, s.ord = b.get("row.doc", 4*m.Rows), b.get("row.ord", 4*m.Rows)
	s.length, s.norm = b.get("row.length", 4*m.Rows), b.get("row.norm", m.Rows)
	s.stems, s.words = b.field("stem"), b.field("word")
	s.forward = &postings.Forward{Offsets: b.get("row.stemat", 4*(m.Rows+1)), Data: b.get("row.stem", -1)}
	s.dims = b.get("row.dims", 4*m.Rows*x.cfg.Dimensions)
	if x.rotation != nil {
		w := x.rotation.Width()
		s.vectors = &vector.Rows{Rotation: x.rotation, Limits: m.Limits, Planes: vector.Planes{
			Hi: b.get("vec.hi", w*m.Rows), Lo: b.get("vec.lo", w*m.Rows), Scale: b.get("vec.scale", 4*m.Rows),
		}}
	}
	return s, b.err
}

// bindColumns gives the values that the columns in file hold, for a segment of so many documents and rows.
func bindColumns(file *segment.File, of *layer.Schema, docs, rows int) (*layer.Set, error) {
	b := binder{file: file}
	columns := make([]*column.Column, len(of.Attrs))
	for i, a := range of.Attrs {
		n := rows
		if a.Level == filter.Document {
			n = docs
		}
		c, err := column.Open(b.get(columnName(i), -1))
		if err != nil || c.Len() != n || c.Type() != a.Type {
			b.fail(columnName(i), "not a column of this segment")
			return nil, b.err
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

// get gives a section of size bytes, of any size when size is -1.
func (b *binder) get(name string, size int) []byte {
	data := b.file.Section(name)
	if size >= 0 && len(data) != size {
		b.fail(name, fmt.Sprintf("%d bytes, want %d", len(data), size))
	}
	return data
}

func (b *binder) field(name string) *postings.Field {
	return &postings.Field{
		Dict: b.get(name+".dict", -1), Index: b.get(name+".index", -1), Terms: b.get(name+".terms", -1),
		Heads: b.get(name+".heads", -1), Posts: b.get(name+".posts", -1), Positions: b.get(name+".positions", -1),
	}
}

func fieldSections(name string, f *postings.Field) []segment.Section {
	return []segment.Section{
		{Name: name + ".dict", Data: f.Dict}, {Name: name + ".index", Data: f.Index}, {Name: name + ".terms", Data: f.Terms},
		{Name: name + ".heads", Data: f.Heads}, {Name: name + ".posts", Data: f.Posts}, {Name: name + ".positions", Data: f.Positions},
	}
}

package rows

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/lists"
	"quarry/internal/index/postings"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
	"quarry/internal/search"
)

// Marked returns the values of p with the one that shows that it leads to text.
func Marked(p *search.Part, of *layer.Schema) []filter.Value {
	if !p.Leads {
		return p.Values
	}
	out := make([]filter.Value, len(of.Attrs))
	copy(out, p.Values)
	out[of.Leads] = filter.Bool(true)
	return out
}

// LanguageMark begins the term that stands for the language of a row. No analysed term has it, it adds nothing to the
// length of a row, and it is counted and forgotten like any other term.
const LanguageMark = "\x00"

// table gathers what every segment has, whether built from documents or merged: documents, rows, vectors, columns.
type table struct {
	shape   Shape
	of      *layer.Schema
	rows    int
	nos     []int64
	no      []byte
	first   []byte
	idAt    []byte
	ids     []byte
	owner   []byte
	ord     []byte
	length  []byte
	norm    []byte
	dims    []byte
	vectors *vector.Builder
	kept    *lists.Lists // whose centroids are good for these rows, too; nil = none
	columns []*column.Builder
}

func (h Shape) newTable(of *layer.Schema, rows int) *table {
	t := &table{shape: h, of: of}
	if h.Rotation != nil {
		t.vectors = vector.NewBuilder(h.Rotation, rows)
	}
	for _, a := range of.Attrs {
		t.columns = append(t.columns, column.NewBuilder(a.Type))
	}
	return t
}

// document begins the rows of a document.
func (t *table) document(no int64, id []byte) {
	t.nos = append(t.nos, no)
	t.no = binary.LittleEndian.AppendUint64(t.no, uint64(no))
	t.first = binary.LittleEndian.AppendUint32(t.first, uint32(t.rows))
	t.idAt = binary.LittleEndian.AppendUint32(t.idAt, uint32(len(t.ids)))
	t.ids = append(t.ids, id...)
}

// row adds a row of the document begun last.
func (t *table) row(ord, length int) {
	t.owner = binary.LittleEndian.AppendUint32(t.owner, uint32(len(t.nos)-1))
	t.ord = binary.LittleEndian.AppendUint32(t.ord, uint32(ord))
	t.length = binary.LittleEndian.AppendUint32(t.length, uint32(length))
	t.norm = append(t.norm, postings.LengthByte(length))
	t.rows++
}

// values adds the values of one level to its columns.
func (t *table) values(l filter.Level, value func(attr int) filter.Value) {
	for i, a := range t.of.Attrs {
		if a.Level == l {
			t.columns[i].Add(value(i))
		}
	}
}

// segment returns the segment, in memory.
func (t *table) segment(stems, words *postings.Field, forward *postings.Forward) (*Segment, error) {
	order := make([]uint32, len(t.nos))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(t.nos[a], t.nos[b]) })
	var byNo []byte
	for _, d := range order {
		byNo = binary.LittleEndian.AppendUint32(byNo, d)
	}
	out := []segment.Section{
		section("doc.no", t.no), section("doc.byno", byNo),
		section("doc.first", binary.LittleEndian.AppendUint32(t.first, uint32(t.rows))),
		section("doc.idat", binary.LittleEndian.AppendUint32(t.idAt, uint32(len(t.ids)))), section("doc.id", t.ids),
		section("row.doc", t.owner), section("row.ord", t.ord),
		section("row.length", t.length), section("row.norm", t.norm),
		section("row.stemat", forward.Offsets), section("row.stem", forward.Data), section("row.dims", t.dims),
	}
	out = append(out, fieldSections("stem", stems)...)
	out = append(out, section("stem.bounds", stems.Bounds))
	out = append(out, fieldSections("word", words)...)
	m := Meta{Rows: t.rows, Docs: len(t.nos)}
	if t.vectors != nil {
		v := t.vectors.Rows()
		m.Limits = v.Limits
		out = append(out, section("vec.hi", v.Planes.Hi), section("vec.lo", v.Planes.Lo),
			section("vec.scale", v.Planes.Scale))
		if t.rows >= t.shape.listsFrom() {
			made, err := t.lists(v)
			if err != nil {
				return nil, err
			}
			out = append(out, made...)
		}
	}
	for i, c := range t.columns {
		out = append(out, section(columnName(i), c.Bytes()))
	}
	file := segment.New(out)
	s, err := t.shape.Bind(file, m)
	if err == nil {
		s.Values, err = BindColumns(file, t.of, s.Docs, s.Rows)
	}
	return s, err
}

// Build returns a segment in memory of documents; nil when they have no parts.
func (h Shape) Build(of *layer.Schema, docs []search.Document) (*Segment, error) {
	rows := 0
	for i := range docs {
		rows += len(docs[i].Parts)
	}
	if rows == 0 {
		return nil, nil
	}
	t, stems, words := h.newTable(of, rows), postings.Inversion{}, postings.Inversion{}
	for i := range docs {
		if len(docs[i].Parts) == 0 {
			continue
		}
		if err := t.add(&docs[i], stems, words); err != nil {
			return nil, fmt.Errorf("index document %q: %w", docs[i].ID, err)
		}
	}
	stemField, forward := stems.Both(t.norm)
	return t.segment(stemField, words.Field(), forward)
}

func (t *table) add(d *search.Document, stems, words postings.Inversion) error {
	t.document(d.No, []byte(d.ID))
	t.values(filter.Document, func(a int) filter.Value {
		if a == t.of.ID {
			return filter.Text(d.ID)
		}
		return valueAt(d.Values, a)
	})
	for i := range d.Parts {
		p := &d.Parts[i]
		row := uint32(t.rows)
		if p.Lang != "" {
			stems.Add(LanguageMark+p.Lang, row, 1)
		}
		for _, s := range p.Stems {
			stems.Add(s, row, 1)
		}
		for _, s := range p.Heading {
			stems.Add(s, row, headingWeight)
		}
		for _, w := range p.Words {
			words.Place(w.Text, row, uint32(w.Pos))
		}
		if t.vectors != nil {
			if err := t.vectors.Add(p.Vector); err != nil {
				return fmt.Errorf("part %d: %w", p.Ord, err)
			}
		}
		if len(p.Dimensions) != t.shape.Dimensions {
			return fmt.Errorf("part %d: %d custom dimensions, want %d", p.Ord, len(p.Dimensions), t.shape.Dimensions)
		}
		for _, f := range p.Dimensions {
			t.dims = binary.LittleEndian.AppendUint32(t.dims, math.Float32bits(f))
		}
		values := Marked(p, t.of)
		t.values(filter.Part, func(a int) filter.Value { return valueAt(values, a) })
		t.row(p.Ord, len(p.Stems)+headingWeight*len(p.Heading))
	}
	return nil
}

// headingWeight is how often a term of the heading counts, in frequency and length.
const headingWeight = 2

func valueAt(vs []filter.Value, i int) filter.Value {
	if i < len(vs) {
		return vs[i]
	}
	return filter.Value{}
}

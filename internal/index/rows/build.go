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
	vectors *vector.Builder // nil without vectors, and where they were written ahead
	written *vector.Rows    // those
	kept    *lists.Lists    // whose centroids are good for these rows, too; nil = none
	columns []*column.Builder

	sections []segment.Section
	out      *segment.Writer // takes sections as they are made, so that they need not stay in memory; nil = they do
	err      error           // of out
}

func (h Shape) newTable(of *layer.Schema, out *segment.Writer) *table {
	t := &table{shape: h, of: of, out: out}
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

// put adds a section.
func (t *table) put(name string, data []byte) {
	s := section(name, data)
	if t.out != nil && t.err == nil {
		if t.err = t.out.Add(s); t.err == nil {
			s.Data, t.err = t.out.Map(name)
		}
	}
	t.sections = append(t.sections, s)
}

// field adds the sections of a field, and with bounds those.
func (t *table) field(name string, f *postings.Field, bounds bool) {
	t.put(name+".dict", f.Dict)
	t.put(name+".index", f.Index)
	t.put(name+".terms", f.Terms)
	t.put(name+".heads", f.Heads)
	t.put(name+".posts", f.Posts)
	t.put(name+".positions", f.Positions)
	if bounds {
		t.put(name+".bounds", f.Bounds)
	}
}

// forward adds the terms of each row.
func (t *table) forward(f *postings.Forward) {
	t.put("row.stemat", f.Offsets)
	t.put("row.stem", f.Data)
}

// segment returns the segment of all that was added. Its sections lie in memory, or where out has them.
func (t *table) segment() (*Segment, error) {
	order := make([]uint32, len(t.nos))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(t.nos[a], t.nos[b]) })
	var byNo []byte
	for _, d := range order {
		byNo = binary.LittleEndian.AppendUint32(byNo, d)
	}
	t.put("doc.no", t.no)
	t.put("doc.byno", byNo)
	t.put("doc.first", binary.LittleEndian.AppendUint32(t.first, uint32(t.rows)))
	t.put("doc.idat", binary.LittleEndian.AppendUint32(t.idAt, uint32(len(t.ids))))
	t.put("doc.id", t.ids)
	t.put("row.doc", t.owner)
	t.put("row.ord", t.ord)
	t.put("row.length", t.length)
	t.put("row.norm", t.norm)
	t.put("row.dims", t.dims)
	m := Meta{Rows: t.rows, Docs: len(t.nos)}
	v := t.written
	if t.vectors != nil {
		v = t.vectors.Rows()
		t.put("vec.hi", v.Planes.Hi)
		t.put("vec.lo", v.Planes.Lo)
		t.put("vec.scale", v.Planes.Scale)
	}
	if v != nil {
		m.Limits = v.Limits
		if t.rows >= t.shape.listsFrom() {
			if err := t.lists(v); err != nil {
				return nil, err
			}
		}
	}
	for i, c := range t.columns {
		t.put(columnName(i), c.Bytes())
	}
	if t.err != nil {
		return nil, t.err
	}
	file := segment.New(t.sections)
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
	t, stems, words := h.newTable(of, nil), postings.Inversion{}, postings.Inversion{}
	if h.Rotation != nil {
		t.vectors = vector.NewBuilder(h.Rotation, rows)
	}
	for i := range docs {
		if len(docs[i].Parts) == 0 {
			continue
		}
		if err := t.add(&docs[i], stems, words); err != nil {
			return nil, fmt.Errorf("index document %q: %w", docs[i].ID, err)
		}
	}
	field, forward := stems.Both(t.norm)
	t.field("stem", field, true)
	t.field("word", words.Field(), false)
	t.forward(forward)
	return t.segment()
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

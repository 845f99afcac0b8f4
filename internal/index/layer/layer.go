// Package layer holds the attribute values of one segment: a column per attribute, and over them layers with newer
// values of some documents. A change of a document's values adds a layer and touches nothing else; layers are merged
// into fewer and at last into whole columns. It knows nothing of rows, files and filters' structure. Package index
// calls it.
package layer

import (
	"math/bits"
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/rowset"
)

// Schema is the attributes of an index and their version.
type Schema struct {
	Version int64
	Attrs   []filter.Attribute
	ID      int // ordinal of doc.id, whose values never change; -1 without one
	Leads   int // ordinal of the last attribute, which no filter can name: true for the headings of sections that have text
	filters parsed
}

// NewSchema returns the attributes of s; nil has none.
func NewSchema(s *filter.Schema, version int64) *Schema {
	out := &Schema{Version: version, ID: -1}
	if s != nil {
		out.filters.of = s
		out.Attrs = slices.Clip(s.Attributes())
		if i, ok := s.Find(filter.Document, "id"); ok && out.Attrs[i].Type == filter.TextType {
			out.ID = i
		}
	}
	out.Leads = len(out.Attrs)
	out.Attrs = append(out.Attrs, filter.Attribute{Level: filter.Part, Type: filter.Boolean})
	return out
}

// Filter returns the filter that a text stands for with these attributes; nil for a blank one.
func (s *Schema) Filter(text string) (*filter.Filter, error) { return s.filters.get(text) }

// layered reports whether an attribute's values may change under a document.
func (s *Schema) layered(attr int) bool {
	return s.Attrs[attr].Level == filter.Document && attr != s.ID
}

// Set is the values of a segment. It is immutable and safe for concurrent use.
type Set struct {
	schema *Schema
	base   []*column.Column // by attribute
	layers []*layer         // the older first: a document's values are those of the last layer that has it
}

// layer is newer values of some documents.
type layer struct {
	docs    []uint32         // ordinals, ascending
	columns []*column.Column // by attribute; nil where values can't change
}

// New returns a set of columns, one per attribute.
func New(s *Schema, columns []*column.Column) *Set { return &Set{schema: s, base: columns} }

// Change is the new values of a document.
type Change struct {
	Doc    uint32         // ordinal
	Values []filter.Value // by ordinal; those of document level count
}

// With returns the set after changes, one per document.
func (s *Set) With(changes []Change) *Set {
	if len(changes) == 0 {
		return s
	}
	slices.SortFunc(changes, func(a, b Change) int { return int(a.Doc) - int(b.Doc) })
	l := &layer{columns: make([]*column.Column, len(s.schema.Attrs))}
	for _, c := range changes {
		l.docs = append(l.docs, c.Doc)
	}
	for a := range s.schema.Attrs {
		if s.schema.layered(a) {
			l.columns[a] = s.column(a, len(changes), func(i int) filter.Value { return at(changes[i].Values, a) })
		}
	}
	out := &Set{schema: s.schema, base: s.base, layers: append(slices.Clone(s.layers), l)}
	out.compact()
	return out
}

func (s *Set) column(attr, n int, value func(i int) filter.Value) *column.Column {
	b := column.NewBuilder(s.schema.Attrs[attr].Type)
	for i := range n {
		b.Add(value(i))
	}
	c, err := column.Open(b.Bytes())
	if err != nil {
		panic(err) // it was made here
	}
	return c
}

// Since returns the newest values of the documents that have others than in old, perhaps with some that have not; ok is
// false where s is not old with layers over it.
func (s *Set) Since(old *Set) (changes []Change, ok bool) {
	if s.schema != old.schema || &s.base[0] != &old.base[0] {
		return nil, false
	}
	var docs []uint32
	for _, l := range s.layers {
		if !slices.Contains(old.layers, l) { // new, or of some that were merged
			docs = append(docs, l.docs...)
		}
	}
	slices.Sort(docs)
	r := s.Reader()
	for _, d := range slices.Compact(docs) {
		c := Change{Doc: d, Values: make([]filter.Value, len(s.schema.Attrs))}
		for a := range s.schema.Attrs {
			if s.schema.layered(a) {
				c.Values[a] = r.Value(a, int(d))
			}
		}
		changes = append(changes, c)
	}
	return changes, true
}

// fanIn is how many layers of about one size become one.
const fanIn = 8

func tier(n int) int { return bits.Len(uint(n)) / 3 }

// compact merges the last layers while fanIn of them are of no more than the last one's order of magnitude. So there
// are few, and a value is copied once per order of magnitude (a log-structured merge).
func (s *Set) compact() {
	for n := len(s.layers); n >= fanIn; n = len(s.layers) {
		if tier(len(s.layers[n-fanIn].docs)) > tier(len(s.layers[n-1].docs)) {
			return
		}
		from := n - fanIn
		s.layers = append(s.layers[:from:from], s.merge(s.layers[from:]))
	}
}

// source is where the newest values of a document lie.
type source struct {
	doc   uint32
	layer int32
	at    int32
}

func (s *Set) merge(in []*layer) *layer {
	var all []source
	for i, l := range in {
		for k, d := range l.docs {
			all = append(all, source{d, int32(i), int32(k)})
		}
	}
	slices.SortFunc(all, func(a, b source) int {
		if a.doc != b.doc {
			return int(a.doc) - int(b.doc)
		}
		return int(b.layer - a.layer) // the newest first
	})
	all = slices.CompactFunc(all, func(a, b source) bool { return a.doc == b.doc })
	out := &layer{docs: make([]uint32, len(all)), columns: make([]*column.Column, len(s.schema.Attrs))}
	for i, x := range all {
		out.docs[i] = x.doc
	}
	for a := range s.schema.Attrs {
		if s.schema.layered(a) {
			out.columns[a] = s.column(a, len(all), func(i int) filter.Value {
				return in[all[i].layer].columns[a].Value(int(all[i].at))
			})
		}
	}
	return out
}

// Schema returns the attributes of the set.
func (s *Set) Schema() *Schema { return s.schema }

// Pending returns how many documents have values in layers; one that is in several counts as often.
func (s *Set) Pending() int {
	n := 0
	for _, l := range s.layers {
		n += len(l.docs)
	}
	return n
}

// Bytes returns the size of the layers.
func (s *Set) Bytes() int64 {
	if s == nil {
		return 0
	}
	n := 0
	for _, l := range s.layers {
		n += 4 * len(l.docs)
		for _, c := range l.columns {
			if c != nil {
				n += len(c.Bytes())
			}
		}
	}
	return int64(n)
}

// Where returns the documents or parts for which a condition on an attribute holds; eval writes the bits of a column.
func (s *Set) Where(attr int, eval func(c *column.Column, out []uint64)) []uint64 {
	base := s.base[attr]
	out := make([]uint64, rowset.Words(base.Len()))
	eval(base, out)
	if !s.schema.layered(attr) {
		return out
	}
	var own []uint64
	for _, l := range s.layers {
		own = slices.Grow(own[:0], rowset.Words(len(l.docs)))[:rowset.Words(len(l.docs))]
		eval(l.columns[attr], own)
		for i, d := range l.docs {
			word, bit := &out[d>>6], d&63
			*word = *word&^(1<<bit) | own[i>>6]>>(i&63)&1<<bit
		}
	}
	return out
}

// Reader reads values one by one. Not safe for concurrent use.
type Reader struct {
	set *Set
	at  []source // by document; layer -1 = base. Filled at the first need
}

// Reader returns a reader of the set.
func (s *Set) Reader() *Reader { return &Reader{set: s} }

// Value returns an attribute's value of the document or part i, whichever the attribute is of.
func (r *Reader) Value(attr, i int) filter.Value {
	s := r.set
	if len(s.layers) == 0 || !s.schema.layered(attr) {
		return s.base[attr].Value(i)
	}
	if r.at == nil {
		r.at = make([]source, s.base[attr].Len())
		for d := range r.at {
			r.at[d].layer = -1
		}
		for n, l := range s.layers {
			for k, d := range l.docs {
				r.at[d] = source{d, int32(n), int32(k)}
			}
		}
	}
	if from := r.at[i]; from.layer >= 0 {
		return s.layers[from.layer].columns[attr].Value(int(from.at))
	}
	return s.base[attr].Value(i)
}

// Columns returns whole columns of the newest values, by attribute. Those that no layer can change are the old ones.
func (s *Set) Columns() []*column.Column {
	out := slices.Clone(s.base)
	if len(s.layers) == 0 {
		return out
	}
	r := s.Reader()
	for a := range s.schema.Attrs {
		if s.schema.layered(a) {
			out[a] = s.column(a, s.base[a].Len(), func(i int) filter.Value { return r.Value(a, i) })
		}
	}
	return out
}

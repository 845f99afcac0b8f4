package layer

import (
	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
)

// Row is the values of a document and of its parts, by ordinal of the attribute.
type Row struct {
	No     int64
	Values []filter.Value
	Parts  [][]filter.Value
}

// Table holds values of documents by their numbers, in whatever order they come, as columns do: a corpus of any size in
// little memory. Not safe for concurrent use.
type Table struct {
	of     *Schema
	at     map[int64]spot
	blocks []block
}

// block is the rows of one call of Add.
type block struct {
	columns []*column.Column // by attribute
	first   []int            // per document and once more: its first part
}

type spot struct{ block, doc int32 }

// NewTable returns an empty table.
func NewTable(of *Schema) *Table { return &Table{of: of, at: map[int64]spot{}} }

// Has reports whether a document was added.
func (t *Table) Has(no int64) bool {
	_, ok := t.at[no]
	return ok
}

// Add adds rows. One whose number was added before replaces it.
func (t *Table) Add(rows []Row) error {
	b := block{columns: make([]*column.Column, len(t.of.Attrs))}
	parts := 0
	for i := range rows {
		t.at[rows[i].No] = spot{int32(len(t.blocks)), int32(i)}
		b.first = append(b.first, parts)
		parts += len(rows[i].Parts)
	}
	b.first = append(b.first, parts)
	for a, attr := range t.of.Attrs {
		c := column.NewBuilder(attr.Type)
		for i := range rows {
			if attr.Level == filter.Document {
				c.Add(at(rows[i].Values, a))
				continue
			}
			for _, values := range rows[i].Parts {
				c.Add(at(values, a))
			}
		}
		var err error
		if b.columns[a], err = column.Open(c.Bytes()); err != nil {
			return err
		}
	}
	t.blocks = append(t.blocks, b)
	return nil
}

func at(vs []filter.Value, i int) filter.Value {
	if i < len(vs) {
		return vs[i]
	}
	return filter.Value{}
}

// Value returns an attribute of a document, or of its part with this position; absent where nothing was added.
func (t *Table) Value(no int64, attr, part int) filter.Value {
	where, ok := t.at[no]
	if !ok {
		return filter.Value{}
	}
	b := &t.blocks[where.block]
	if t.of.Attrs[attr].Level == filter.Document {
		return b.columns[attr].Value(int(where.doc))
	}
	if i := b.first[where.doc] + part; i < b.first[where.doc+1] {
		return b.columns[attr].Value(i)
	}
	return filter.Value{}
}

package rows

import (
	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/postings"
)

// block is how many documents or rows are copied between two calls of Shape.Pause.
const block = 256

// Merge returns one segment in memory of the live rows of several; nil when there are none. Vectors are copied, never
// rounded again. Documents keep the order of the views and their own.
func (h Shape) Merge(of *layer.Schema, views []*View) (*Segment, error) {
	rows := 0
	for _, v := range views {
		rows += v.LiveRows
	}
	if rows == 0 {
		return nil, nil
	}
	t := h.newTable(of, rows)
	stems, words := make([]postings.Source, len(views)), make([]postings.Source, len(views))
	for i, v := range views {
		to, err := t.copy(v)
		if err != nil {
			return nil, err
		}
		stems[i] = postings.Source{Field: v.Stems, Rows: to}
		words[i] = postings.Source{Field: v.Words, Rows: to}
		if 2*v.LiveRows > rows {
			t.kept = v.Lists
		}
	}
	stemField, ordinals, err := postings.Merge(stems, t.norm, h.pause)
	if err != nil {
		return nil, err
	}
	wordField, _, err := postings.Merge(words, nil, h.pause)
	if err != nil {
		return nil, err
	}
	var forward postings.ForwardBuilder
	for i, v := range views {
		for row := range v.Rows {
			if row%block == 0 {
				if err := h.pause(); err != nil {
					return nil, err
				}
			}
			if !v.IsLive(row) {
				continue
			}
			forward.Begin()
			for w := v.Forward.Row(row); w.Next(); {
				forward.Add(ordinals[i][w.Ordinal], w.Freq)
			}
		}
	}
	return t.segment(stemField, wordField, forward.Forward())
}

// Values returns the columns of the segment that Merge made of views, with the values that each of these has by now; nil for
// one whose documents are all gone.
func (h Shape) Values(of *layer.Schema, merged []*View, now []*layer.Set) (*layer.Set, error) {
	columns := make([]*column.Column, len(of.Attrs))
	for a, attr := range of.Attrs {
		b := column.NewBuilder(attr.Type)
		for i, v := range merged {
			value := func(int) filter.Value { return filter.Value{} }
			if now[i] != nil {
				r := now[i].Reader()
				value = func(at int) filter.Value { return r.Value(a, at) }
			}
			if err := v.each(h, attr.Level, func(at int) { b.Add(value(at)) }); err != nil {
				return nil, err
			}
		}
		var err error
		if columns[a], err = column.Open(b.Bytes()); err != nil {
			return nil, err
		}
	}
	return layer.New(of, columns), nil
}

// each calls f for the live documents or rows of v, in order. The error is that of a pause.
func (v *View) each(h Shape, l filter.Level, f func(at int)) error {
	for d := range v.Docs {
		if d%block == 0 {
			if err := h.pause(); err != nil {
				return err
			}
		}
		from, end := v.Run(d)
		switch {
		case !v.IsLive(from):
		case l == filter.Document:
			f(d)
		default:
			for row := from; row < end; row++ {
				f(row)
			}
		}
	}
	return nil
}

// copy adds the live documents of v and returns the map from its rows to the new ones. The error is that of a pause.
func (t *table) copy(v *View) ([]uint32, error) {
	s, values := v.Segment, v.Values.Reader()
	to := make([]uint32, s.Rows)
	for i := range to {
		to[i] = postings.Dropped
	}
	width := 4 * t.shape.Dimensions
	for d := range s.Docs {
		if d%block == 0 {
			if err := t.shape.pause(); err != nil {
				return nil, err
			}
		}
		from, end := s.Run(d)
		if !v.IsLive(from) {
			continue
		}
		t.document(s.No(d), s.ID(d))
		t.values(filter.Document, func(a int) filter.Value { return values.Value(a, d) })
		for row := from; row < end; row++ {
			to[row] = uint32(t.rows)
			if t.vectors != nil {
				t.vectors.Copy(s.Vectors, row)
			}
			t.dims = append(t.dims, s.Dims[row*width:(row+1)*width]...)
			t.values(filter.Part, func(a int) filter.Value { return values.Value(a, row) })
			t.row(s.OrdOf(row), int(le32(s.length, row)))
		}
	}
	return to, nil
}

package rows

import (
	"io"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/postings"
	"quarry/internal/index/segment"
	"quarry/internal/index/vector"
)

// block is how many documents or rows are copied between two calls of Shape.Pause.
const block = 256

// Merge returns one segment in memory of the live rows of several; nil when there are none. Vectors are copied, never
// rounded again. Documents keep the order of the views and their own.
func (h Shape) Merge(of *layer.Schema, views []*View) (*Segment, error) {
	return h.merge(of, views, nil)
}

// MergeTo writes what Merge returns to a file of that epoch and encoder; ok is false when there are no rows. In memory are the
// inverted lists of one kind at a time and what belongs to rows beside vectors.
func (h Shape) MergeTo(out *segment.Writer, of *layer.Schema, views []*View, epoch int64, encoder string) (ok bool, err error) {
	s, err := h.merge(of, views, out)
	if err != nil || s == nil {
		return false, err
	}
	rest, err := s.rest(epoch, encoder)
	for _, x := range rest {
		if err == nil {
			err = out.Add(x)
		}
	}
	return err == nil, err
}

func (h Shape) merge(of *layer.Schema, views []*View, out *segment.Writer) (*Segment, error) {
	rows := 0
	for _, v := range views {
		rows += v.LiveRows
	}
	if rows == 0 {
		return nil, nil
	}
	t := h.newTable(of, out)
	if err := t.vectorsOf(views, rows); err != nil {
		return nil, err
	}
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
	field, ordinals, err := postings.Merge(stems, t.norm, h.pause)
	if err != nil {
		return nil, err
	}
	t.field("stem", field, true)
	if field, _, err = postings.Merge(words, nil, h.pause); err != nil {
		return nil, err
	}
	t.field("word", field, false)
	field = nil // written by now, if there is a file
	forward, err := h.forward(views, ordinals)
	if err != nil {
		return nil, err
	}
	t.forward(forward)
	return t.segment()
}

// vectorsOf takes over the vectors of so many live rows: into memory, or at once into the file.
func (t *table) vectorsOf(views []*View, rows int) error {
	h := t.shape
	switch {
	case h.Rotation == nil:
		return nil
	case t.out == nil:
		t.vectors = vector.NewBuilder(h.Rotation, rows)
		return t.eachRun(views, func(v *View, from, end int) error {
			for row := from; row < end; row++ {
				t.vectors.Copy(v.Vectors, row)
			}
			return nil
		})
	}
	t.written = &vector.Rows{Rotation: h.Rotation}
	for _, v := range views {
		t.written.Limits = t.written.Limits.Or(v.Vectors.Limits)
	}
	w := h.Rotation.Width()
	for _, p := range []struct {
		name  string
		width int
		of    func(*vector.Planes) *[]byte
	}{
		{"vec.hi", w, func(p *vector.Planes) *[]byte { return &p.Hi }},
		{"vec.lo", w, func(p *vector.Planes) *[]byte { return &p.Lo }},
		{"vec.scale", 4, func(p *vector.Planes) *[]byte { return &p.Scale }},
	} {
		err := t.out.Stream(p.name, version(p.name), func(to io.Writer) error {
			return t.eachRun(views, func(v *View, from, end int) error {
				_, err := to.Write((*p.of(&v.Vectors.Planes))[from*p.width : end*p.width])
				return err
			})
		})
		if err != nil {
			return err
		}
		data, err := t.out.Map(p.name)
		if err != nil {
			return err
		}
		*p.of(&t.written.Planes) = data
		t.sections = append(t.sections, section(p.name, data))
	}
	return nil
}

// eachRun calls f for the rows of each live document, in order, until its first error.
func (t *table) eachRun(views []*View, f func(v *View, from, end int) error) error {
	for _, v := range views {
		for d := range v.Docs {
			if d%block == 0 {
				if err := t.shape.pause(); err != nil {
					return err
				}
			}
			if from, end := v.Run(d); v.IsLive(from) {
				if err := f(v, from, end); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// forward returns the terms of all live rows, whose ordinals were mapped.
func (h Shape) forward(views []*View, ordinals [][]uint32) (*postings.Forward, error) {
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
	return forward.Forward(), nil
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
			t.dims = append(t.dims, s.Dims[row*width:(row+1)*width]...)
			t.values(filter.Part, func(a int) filter.Value { return values.Value(a, row) })
			t.row(s.OrdOf(row), int(le32(s.length, row)))
		}
	}
	return to, nil
}

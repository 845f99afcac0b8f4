package rows

import (
	"fmt"
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
)

// Retyped returns the columns of other attributes, whose values t has.
func (s *Segment) Retyped(of *layer.Schema, t *layer.Table) (*layer.Set, error) {
	out := make([]*column.Column, len(of.Attrs))
	for a, attr := range of.Attrs {
		b := column.NewBuilder(attr.Type)
		for d := range s.Docs {
			if a == of.ID {
				b.Add(filter.Text(string(s.ID(d))))
				continue
			}
			no := s.No(d)
			if attr.Level == filter.Document {
				b.Add(t.Value(no, a, 0))
				continue
			}
			from, to := s.Run(d)
			for row := from; row < to; row++ {
				b.Add(t.Value(no, a, row-from))
			}
		}
		var err error
		if out[a], err = column.Open(slices.Clip(b.Bytes())); err != nil {
			return nil, fmt.Errorf("retype index: %w", err)
		}
	}
	return layer.New(of, out), nil
}

package index

import (
	"quarry/internal/expr/filter"
	"quarry/internal/index/layer"
	"quarry/internal/index/postings"
)

// merge makes one segment in memory of the live rows of several; nil when there are none. Vectors are copied, never
// rounded again.
func (x *Index) merge(of *layer.Schema, views []*view) (*seg, error) {
	rows := 0
	for _, v := range views {
		rows += v.rows
	}
	if rows == 0 {
		return nil, nil
	}
	t := x.newTable(of, rows)
	stems, words := make([]postings.Source, len(views)), make([]postings.Source, len(views))
	for i, v := range views {
		to := t.copy(v)
		stems[i] = postings.Source{Field: v.seg.stems, Rows: to}
		words[i] = postings.Source{Field: v.seg.words, Rows: to}
	}
	stemField, ordinals := postings.Merge(stems)
	wordField, _ := postings.Merge(words)
	var forward postings.ForwardBuilder
	for i, v := range views {
		v.eachRow(func(row int) {
			forward.Begin()
			for w := v.seg.forward.Row(row); w.Next(); {
				forward.Add(ordinals[i][w.Ordinal], w.Freq)
			}
		})
	}
	return t.seg(stemField, wordField, forward.Forward())
}

// copy adds the live documents of v and gives the map from its rows to the new ones.
func (t *table) copy(v *view) []uint32 {
	s, values := v.seg, v.values.Reader()
	to := make([]uint32, s.rows)
	for i := range to {
		to[i] = postings.Dropped
	}
	width := 4 * t.x.cfg.Dimensions
	for d := range s.docs {
		from, end := s.run(d)
		if !v.isLive(from) {
			continue
		}
		t.document(s.docNo(d), s.id(d))
		t.values(filter.Document, func(a int) filter.Value { return values.Value(a, d) })
		for row := from; row < end; row++ {
			to[row] = uint32(t.rows)
			if t.vectors != nil {
				t.vectors.Copy(s.vectors, row)
			}
			t.dims = append(t.dims, s.dims[row*width:(row+1)*width]...)
			t.values(filter.Part, func(a int) filter.Value { return values.Value(a, row) })
			t.row(s.ordOf(row), int(le32(s.length, row)))
		}
	}
	return to
}

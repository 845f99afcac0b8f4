package index

import (
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/rowset"
)

// passing gives the live rows of v that pass f, one bit per row; nil means all. The caller must not modify it.
func passing(v *view, f *filter.Filter) []uint64 {
	if f == nil {
		return v.live
	}
	e := evaluation{attrs: v.values.Schema().Attrs, seg: v.seg, values: v.values}
	within := v.live
	if within == nil {
		within = rowset.All(v.seg.rows)
	}
	out := e.node(f.Root(), within)
	for i := range out {
		out[i] &= within[i]
	}
	return out
}

// evaluation turns a filter into rows of a segment.
type evaluation struct {
	attrs  []filter.Attribute
	seg    *seg
	values *layer.Set
}

// node gives the rows for which n holds. Only those in within matter; what it says of others is not defined.
func (e *evaluation) node(n filter.Node, within []uint64) []uint64 {
	switch n := n.(type) {
	case filter.And:
		return e.and(n.Nodes, within)
	case filter.Or:
		out := make([]uint64, len(within))
		for _, m := range n.Nodes {
			for i, w := range e.node(m, within) {
				out[i] |= w
			}
		}
		return out
	case filter.Not:
		out := e.node(n.Node, within)
		for i := range out {
			out[i] = ^out[i]
		}
		return out
	case filter.Const:
		if n.Holds {
			return rowset.All(e.seg.rows)
		}
		return make([]uint64, len(within))
	case filter.Compare:
		return e.rows(n.Attr, func(c *column.Column, out []uint64) { c.Compare(n.Op, n.Const, out) })
	case filter.In:
		return e.rows(n.Attr, func(c *column.Column, out []uint64) { c.In(n.Consts, out) })
	case filter.Contains:
		return e.rows(n.Attr, func(c *column.Column, out []uint64) { c.Contains(n.Const, out) })
	case filter.IsNull:
		return e.rows(n.Attr, func(c *column.Column, out []uint64) { c.IsNull(out) })
	case filter.General:
		return e.general(n, within)
	}
	panic("index: a filter node that is not known")
}

// and evaluates what columns decide first, and the rest on the rows that are left.
func (e *evaluation) and(nodes []filter.Node, within []uint64) []uint64 {
	left := append([]uint64(nil), within...)
	for _, late := range []bool{false, true} {
		for _, n := range nodes {
			if _, general := n.(filter.General); general != late {
				continue
			}
			for i, w := range e.node(n, left) {
				left[i] &= w
			}
		}
	}
	return left
}

// rows evaluates a condition on a column and widens it from documents to rows where that is needed.
func (e *evaluation) rows(attr int, eval func(c *column.Column, out []uint64)) []uint64 {
	out := e.values.Where(attr, eval)
	if e.attrs[attr].Level == filter.Part {
		return out
	}
	wide := make([]uint64, rowset.Words(e.seg.rows))
	rowset.Each(out, func(d int) {
		from, to := e.seg.run(d)
		rowset.AddRange(wide, from, to)
	})
	return wide
}

// general evaluates a condition row by row, or document by document where no attribute of parts is in it.
func (e *evaluation) general(n filter.General, within []uint64) []uint64 {
	out := make([]uint64, len(within))
	r := rowValues{e: e, values: e.values.Reader()}
	if !slices.ContainsFunc(n.Attrs(), func(a int) bool { return e.attrs[a].Level == filter.Part }) {
		for d := range e.seg.docs {
			from, to := e.seg.run(d)
			r.row = from
			if rowset.Any(within, from, to) && n.Match(&r) {
				rowset.AddRange(out, from, to)
			}
		}
		return out
	}
	rowset.Each(within, func(row int) {
		r.row = row
		if n.Match(&r) {
			rowset.Add(out, row)
		}
	})
	return out
}

// rowValues is a row as the filter language sees it.
type rowValues struct {
	e      *evaluation
	values *layer.Reader
	row    int
}

// Value gives an attribute of the row.
func (r *rowValues) Value(attr int) filter.Value {
	if r.e.attrs[attr].Level == filter.Document {
		return r.values.Value(attr, r.e.seg.docOf(r.row))
	}
	return r.values.Value(attr, r.row)
}

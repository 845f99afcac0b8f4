package rows

import (
	"slices"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/condition"
	"quarry/internal/index/layer"
	"quarry/internal/index/rowset"
	"quarry/internal/search"
)

// Matching returns the live rows of v that f holds for, one bit per row; nil means all. Results of its conditions are
// taken from kept and left there. The caller must not modify what nil gives.
func (v *View) Matching(f *filter.Filter, kept *condition.Cache) []uint64 {
	if f == nil {
		return v.Live
	}
	e := evaluation{attrs: v.Values.Schema().Attrs, segment: v.Segment, values: v.Values, kept: kept, all: rowset.All(v.Rows)}
	out := slices.Clone(e.whole(f.Root()))
	if v.Live != nil {
		rowset.Intersect(out, v.Live)
	}
	return out
}

// Headings returns those of rows that want asks for; nil means all, for both. Headings are those of sections that have text.
func (v *View) Headings(want search.Headings, rows []uint64, kept *condition.Cache) []uint64 {
	if want == search.WithHeadings {
		return rows
	}
	leading := v.leading(kept)
	switch {
	case want == search.OnlyHeadings && leading == nil:
		return make([]uint64, rowset.Words(v.Rows))
	case leading == nil:
		return rows
	case rows == nil:
		rows = rowset.All(v.Rows)
	default:
		rows = slices.Clone(rows)
	}
	for w := range rows {
		if want == search.OnlyHeadings {
			rows[w] &= leading[w]
		} else {
			rows[w] &^= leading[w]
		}
	}
	return rows
}

// leading returns the rows that are headings; nil for none. They are taken from kept and left there.
func (v *View) leading(kept *condition.Cache) []uint64 {
	const text = "\x00leading" // which no filter has
	return kept.Rows(v.Values, text, func() []uint64 {
		out := v.Values.Where(v.Values.Schema().Leads, func(c *column.Column, out []uint64) {
			c.Compare(filter.Eq, filter.Bool(true), out)
		})
		if rowset.Count(out) == 0 {
			return nil
		}
		return out
	})
}

// evaluation turns a filter into rows of a segment.
type evaluation struct {
	attrs   []filter.Attribute
	segment *Segment
	values  *layer.Set
	kept    *condition.Cache
	all     []uint64 // rows
}

// whole returns all rows for which n holds, deleted ones too. They may be kept: the caller must not modify them.
func (e *evaluation) whole(n filter.Node) []uint64 {
	return e.kept.Rows(e.values, filter.Key(n), func() []uint64 { return e.node(n, e.all) })
}

// node returns the rows for which n holds. Only those in within matter; the others are not defined.
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
		for i, all := range e.all {
			out[i] = all &^ out[i]
		}
		return out
	case filter.Const:
		if n.Holds {
			return e.all
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
	panic("rows: a filter node that is not known")
}

// narrow is the share of the rows below which a condition that is evaluated row by row is so on the rows left alone, and not
// kept.
const narrow = 8

// and evaluates what columns decide first, and the rest on the rows that are left.
func (e *evaluation) and(nodes []filter.Node, within []uint64) []uint64 {
	left := slices.Clone(within)
	for _, late := range []bool{false, true} {
		for _, n := range nodes {
			if byRow(n) != late {
				continue
			}
			rows := rowset.Count(left)
			switch {
			case rows == 0:
				return left
			case late && rows < e.segment.Rows/narrow && !e.kept.Has(e.values, filter.Key(n)):
				rowset.Intersect(left, e.node(n, left))
			default:
				rowset.Intersect(left, e.whole(n))
			}
		}
	}
	return left
}

// byRow reports whether n has a condition that is evaluated row by row.
func byRow(n filter.Node) bool {
	switch n := n.(type) {
	case filter.And:
		return slices.ContainsFunc(n.Nodes, byRow)
	case filter.Or:
		return slices.ContainsFunc(n.Nodes, byRow)
	case filter.Not:
		return byRow(n.Node)
	case filter.General:
		return true
	}
	return false
}

// rows evaluates a condition on a column and widens it from documents to rows where that is needed.
func (e *evaluation) rows(attr int, eval func(c *column.Column, out []uint64)) []uint64 {
	out := e.values.Where(attr, eval)
	if e.attrs[attr].Level == filter.Part {
		return out
	}
	return e.segment.widen(out)
}

// widen returns the rows of a set of documents.
func (s *Segment) widen(docs []uint64) []uint64 {
	if s.Docs == s.Rows {
		return docs // each has one
	}
	wide := make([]uint64, rowset.Words(s.Rows))
	from, to := 0, 0 // rows of documents that lie side by side
	rowset.Each(docs, func(d int) {
		first, end := s.Run(d)
		if first != to {
			rowset.AddRange(wide, from, to)
			from = first
		}
		to = end
	})
	rowset.AddRange(wide, from, to)
	return wide
}

// general evaluates a condition row by row, or document by document where no attribute of parts is in it.
func (e *evaluation) general(n filter.General, within []uint64) []uint64 {
	out := make([]uint64, len(within))
	r := rowValues{e: e, values: e.values.Reader()}
	if !slices.ContainsFunc(n.Attrs(), func(a int) bool { return e.attrs[a].Level == filter.Part }) {
		for d := range e.segment.Docs {
			from, to := e.segment.Run(d)
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

// Value returns an attribute of the row.
func (r *rowValues) Value(attr int) filter.Value {
	if r.e.attrs[attr].Level == filter.Document {
		return r.values.Value(attr, r.e.segment.DocOf(r.row))
	}
	return r.values.Value(attr, r.row)
}

package attribute

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"quarry/internal/corpus/metaquery"
	"quarry/internal/expr/filter"
)

// tally counts values over rows, which arrive document by document.
type tally struct {
	schema *filter.Schema
	filter *filter.Filter // nil = everything
	fields []field
	sums   []sum
	parts  bool // rows are parts: an attribute or the filter is about them
	doc    picker
	part   picker
	id     int // ordinal of doc.id

	no     int64          // of the current document, 0 before the first
	values []filter.Value // of the current document and part
	ofPart []int          // ordinals of part level
	found  bool           // the current document, or a part of it, is selected
}

func newTally(schema *filter.Schema, fields []field, chosen *filter.Filter) *tally {
	t := &tally{schema: schema, filter: chosen, fields: fields, sums: make([]sum, len(fields))}
	t.id, _ = schema.Find(filter.Document, "id")
	all := schema.Attributes()
	for i, a := range all {
		if a.Level == filter.Part {
			t.ofPart = append(t.ofPart, i)
		}
	}
	for i, f := range fields {
		t.sums[i] = sum{held: map[filter.Value]holding{}}
		t.parts = t.parts || all[f.ordinal].Level == filter.Part
	}
	if chosen != nil {
		for _, i := range chosen.Attrs() {
			t.parts = t.parts || all[i].Level == filter.Part
		}
	}
	t.doc, t.part = newPicker(schema, filter.Document), newPicker(schema, filter.Part)
	return t
}

// Value implements filter.Row.
func (t *tally) Value(ordinal int) filter.Value { return t.values[ordinal] }

// row adds the next document or part.
func (t *tally) row(r metaquery.Row) error {
	if r.No != t.no {
		t.close()
		metadata, err := t.doc.pick(r.Metadata)
		if err != nil {
			return fmt.Errorf("metadata of document %q: %w", r.ID, err)
		}
		t.no, t.found = r.No, false
		t.values, _ = t.schema.Values(filter.Document, metadata) // what does not fit counts as absent
		t.values[t.id] = filter.Text(string(r.ID))
	}
	if t.parts {
		metadata, err := t.part.pick(r.Part)
		if err != nil {
			return fmt.Errorf("metadata of part %d of document %q: %w", r.Ord, r.ID, err)
		}
		own, _ := t.schema.Values(filter.Part, metadata)
		for _, i := range t.ofPart {
			t.values[i] = own[i]
		}
	}
	if t.filter != nil && !t.filter.Match(t) {
		return nil
	}
	t.found = true
	if t.parts {
		t.count(filter.Part)
	}
	return nil
}

// close counts the current document.
func (t *tally) close() {
	if t.found {
		t.count(filter.Document)
	}
	t.found = false
}

func (t *tally) count(l filter.Level) {
	for i, f := range t.fields {
		if t.schema.Attributes()[f.ordinal].Level == l {
			t.sums[i].add(t.values[f.ordinal])
		}
	}
}

// sum is the values of one attribute.
type sum struct {
	rows int64 // documents or parts looked at
	held map[filter.Value]holding
}

// holding counts the occurrences of a value.
type holding struct {
	rows     int64 // documents or parts that hold it
	elements int64 // times it stands in them: a list may repeat it
	last     int64 // number of the last row that holds it
}

// add counts the value of one document or part; of a list, every element on its own.
func (s *sum) add(v filter.Value) {
	s.rows++
	switch {
	case v.IsAbsent():
	case v.Kind().IsList():
		for _, e := range v.Elements() {
			s.one(e)
		}
	default:
		s.one(v)
	}
}

func (s *sum) one(v filter.Value) {
	if v.Kind() == filter.RealNumber && v.Float() == 0 {
		v = filter.Real(0) // -0 is 0
	}
	h := s.held[v]
	h.elements++
	if h.last != s.rows {
		h.rows, h.last = h.rows+1, s.rows
	}
	s.held[v] = h
}

// result returns the most frequent values, at most most of them, and the numbers over all elements.
func (s *sum) result(most int) ([]Count, *Numbers) {
	out := make([]Count, 0, len(s.held))
	for v, h := range s.held {
		out = append(out, Count{v, h.rows})
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), compare(a.Value, b.Value))
	})
	return out[:min(most, len(out))], s.numbers()
}

// compare orders values of one type; false is before true.
func compare(a, b filter.Value) int {
	if a.Kind() == filter.TextType {
		return strings.Compare(a.Text(), b.Text())
	}
	order, _ := filter.Order(a, b)
	return order
}

// numbers sums up numbers, integers exactly until the result is rounded to the nearest real number.
func (s *sum) numbers() *Numbers {
	var out *Numbers
	total, count := new(big.Float).SetPrec(512), int64(0)
	for v, h := range s.held {
		if v.Kind() != filter.Integer && v.Kind() != filter.RealNumber {
			return nil
		}
		switch {
		case out == nil:
			out = &Numbers{Min: v, Max: v}
		case compare(v, out.Min) < 0:
			out.Min = v
		case compare(v, out.Max) > 0:
			out.Max = v
		}
		x := new(big.Float).SetPrec(512)
		if v.Kind() == filter.Integer {
			x.SetInt64(v.Integer())
		} else {
			x.SetFloat64(v.Float())
		}
		total.Add(total, x.Mul(x, new(big.Float).SetInt64(h.elements)))
		count += h.elements
	}
	if out == nil {
		return nil
	}
	out.Sum = finite(total)
	out.Avg = finite(total.Quo(total, new(big.Float).SetInt64(count)))
	return out
}

// finite returns the nearest number that JSON can hold.
func finite(f *big.Float) float64 {
	v, _ := f.Float64()
	return min(max(v, -math.MaxFloat64), math.MaxFloat64)
}

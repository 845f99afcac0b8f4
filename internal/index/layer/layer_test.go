package layer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
	"quarry/internal/index/layer"
	"quarry/internal/index/rowset"
)

const docs = 300

func schema(t *testing.T) *layer.Schema {
	t.Helper()
	s, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "n", Type: filter.Integer}, {Level: filter.Part, Name: "p", Type: filter.Integer},
		{Level: filter.Document, Name: "t", Type: filter.TextType}, {Level: filter.Document, Name: "l", Type: filter.TextList},
	})
	if err != nil {
		t.Fatal(err)
	}
	return layer.NewSchema(s, 7)
}

func random(rng *rand.Rand, a filter.Attribute) filter.Value {
	text := func() filter.Value { return filter.Text(fmt.Sprint(rng.IntN(9))) }
	switch {
	case rng.IntN(4) == 0, a.Type == filter.Boolean:
		return filter.Value{}
	case a.Type == filter.Integer:
		return filter.Int(int64(rng.IntN(9)))
	case a.Type == filter.TextList:
		return filter.List(filter.TextList, text(), text())
	}
	return text()
}

// check holds every way of reading a set to the values themselves.
func check(t *testing.T, s *layer.Set, want [][]filter.Value) {
	t.Helper()
	of, reader, whole := s.Schema(), s.Reader(), s.Columns()
	for a := range of.Attrs {
		three := func(c *column.Column, out []uint64) {
			if of.Attrs[a].Type.IsList() {
				c.Contains(filter.Text("3"), out)
			} else {
				c.IsNull(out)
			}
		}
		where, folded := s.Where(a, three), make([]uint64, rowset.Words(docs))
		three(whole[a], folded)
		if !slices.Equal(where, folded) {
			t.Fatalf("attribute %d: a condition holds elsewhere than in whole columns", a)
		}
		for d := range docs {
			if got := reader.Value(a, d).String(); got != want[d][a].String() || whole[a].Value(d).String() != got {
				t.Fatalf("attribute %d of %d: %v, want %v", a, d, got, want[d][a])
			}
		}
	}
}

// After any sequence of changes, large and small, a set reads as its newest values, and older sets as they did.
func TestSet(t *testing.T) {
	t.Parallel()
	of, rng := schema(t), rand.New(rand.NewPCG(3, 1))
	want := make([][]filter.Value, docs)
	columns := make([]*column.Column, len(of.Attrs))
	for a, attr := range of.Attrs {
		b := column.NewBuilder(attr.Type)
		for d := range want {
			v := random(rng, attr)
			want[d] = append(want[d], v)
			b.Add(v)
		}
		var err error
		if columns[a], err = column.Open(b.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	s := layer.New(of, columns)
	check(t, s, want)
	first, most := s, 0
	old := slices.Clone(want)
	var between *layer.Set
	for i := range 200 {
		if i == 120 {
			between = s
		}
		var changes []layer.Change
		for _, d := range rng.Perm(docs)[:1+rng.IntN(1+rng.IntN(60))] {
			values := make([]filter.Value, len(of.Attrs))
			row := slices.Clone(want[d])
			for a, attr := range of.Attrs {
				values[a] = random(rng, attr)
				if attr.Level == filter.Document && a != of.ID {
					row[a] = values[a]
				}
			}
			want[d] = row
			changes = append(changes, layer.Change{Doc: uint32(d), Values: values})
		}
		s = s.With(changes)
		most = max(most, s.Pending())
	}
	check(t, s, want)
	check(t, first, old)
	for name, was := range map[string]*layer.Set{"at first": first, "with layers": between, "the same": s} {
		since, ok := s.Since(was)
		if !ok {
			t.Fatal(name + ": another set")
		}
		check(t, was.With(since), want)
		if was == s && len(since) > 0 {
			t.Errorf("%d changes since itself", len(since))
		}
	}
	if _, ok := s.Since(layer.New(of, slices.Clone(columns))); ok {
		t.Error("changes since other columns")
	}
	if first.Pending() != 0 || first.Bytes() != 0 || s.With(nil) != s || s.Bytes() == 0 {
		t.Error("a set without changes has some, or one with changes has none")
	}
	if most > 6*docs {
		t.Errorf("layers grew to %d values of %d documents", most, docs)
	}
}

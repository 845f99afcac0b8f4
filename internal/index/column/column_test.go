package column_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"quarry/internal/expr/filter"
	"quarry/internal/index/column"
)

// samples are values of each type that conditions tell apart badly.
var samples = map[filter.Type][]filter.Value{
	filter.Integer:     {filter.Int(0), filter.Int(-1), filter.Int(3), filter.Int(math.MaxInt64), filter.Int(math.MaxInt64 - 1), filter.Int(math.MinInt64)},
	filter.RealNumber:  {filter.Real(0), filter.Real(3), filter.Real(2.5), filter.Real(-1e300), filter.Real(math.MaxInt64)},
	filter.TextType:    {filter.Text(""), filter.Text("a"), filter.Text("ab"), filter.Text("ö"), filter.Text("b")},
	filter.Boolean:     {filter.Bool(true), filter.Bool(false)},
	filter.IntegerList: {filter.List(filter.IntegerList), filter.List(filter.IntegerList, filter.Int(3), filter.Int(-1))},
	filter.RealList:    {filter.List(filter.RealList, filter.Real(2.5)), filter.List(filter.RealList, filter.Real(3), filter.Real(0))},
	filter.TextList:    {filter.List(filter.TextList, filter.Text("a"), filter.Text("")), filter.List(filter.TextList), filter.List(filter.TextList, filter.Text("b"))},
}

// constants are what values are compared with: of every scalar type, in and between the values.
func constants() []filter.Value {
	out := []filter.Value{filter.Text("aa"), filter.Text("zz"), filter.Int(1), filter.Real(-0.5)}
	for _, k := range []filter.Type{filter.Integer, filter.RealNumber, filter.TextType, filter.Boolean} {
		out = append(out, samples[k]...)
	}
	return out
}

// build makes a column of n random samples, some absent.
func build(t *testing.T, kind filter.Type, n int) (*column.Column, []filter.Value) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
	values := make([]filter.Value, n)
	b := column.NewBuilder(kind)
	for i := range values {
		if rng.IntN(4) > 0 {
			values[i] = samples[kind][rng.IntN(len(samples[kind]))]
		}
		b.Add(values[i])
	}
	c, err := column.Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return c, values
}

// bitsOf says of which values a condition must hold, and clears nothing past the end.
func bitsOf(n int, holds func(i int) bool) []uint64 {
	out := make([]uint64, (n+63)/64)
	for i := range n {
		if holds(i) {
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// holds is the meaning of a comparison as package filter defines it.
func holds(op filter.Op, a, b filter.Value) bool {
	order, ok := filter.Order(a, b)
	switch op {
	case filter.Eq:
		return ok && order == 0
	case filter.Ne:
		return !(ok && order == 0)
	case filter.Lt:
		return ok && order < 0
	case filter.Le:
		return ok && order <= 0
	case filter.Gt:
		return ok && order > 0
	default:
		return ok && order >= 0
	}
}

func same(t *testing.T, what string, got, want []uint64) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: word %d is %b, want %b", what, i, got[i], want[i])
		}
	}
}

// Every condition on every type holds for exactly the values that package filter says, absent ones among them.
func TestConditions(t *testing.T) {
	t.Parallel()
	for kind := range samples {
		for _, n := range []int{1, 63, 64, 65, 200} {
			c, values := build(t, kind, n)
			out := make([]uint64, (n+63)/64)
			c.IsNull(out)
			same(t, kind.String()+" IS NULL", out, bitsOf(n, func(i int) bool { return values[i].IsAbsent() }))
			for k, v := range constants() {
				for op := filter.Eq; op <= filter.Ge && !kind.IsList(); op++ {
					c.Compare(op, v, out)
					same(t, kind.String()+" compare "+v.String(), out, bitsOf(n, func(i int) bool { return holds(op, values[i], v) }))
				}
				c.Contains(v, out)
				same(t, kind.String()+" contains "+v.String(), out, bitsOf(n, func(i int) bool {
					for _, e := range values[i].Elements() {
						if filter.Equal(e, v) {
							return true
						}
					}
					return false
				}))
				if vs := constants()[k/2 : k]; !kind.IsList() {
					c.In(vs, out)
					same(t, kind.String()+" in", out, bitsOf(n, func(i int) bool {
						for _, w := range vs {
							if filter.Equal(values[i], w) {
								return true
							}
						}
						return false
					}))
				}
			}
		}
	}
}

// Values come back as they were added.
func TestValue(t *testing.T) {
	t.Parallel()
	for kind := range samples {
		c, values := build(t, kind, 130)
		for i, want := range values {
			if got := c.Value(i); got.String() != want.String() || got.Kind() != want.Kind() {
				t.Errorf("%v value %d: %v, want %v", kind, i, got, want)
			}
		}
	}
}

// A value of another type is absent, except that integers are real numbers.
func TestOtherType(t *testing.T) {
	t.Parallel()
	for kind, want := range map[filter.Type][2]string{
		filter.Integer: {"3", "null"}, filter.RealNumber: {"3", "null"}, filter.TextType: {"null", "'x'"},
		filter.Boolean: {"null", "null"}, filter.IntegerList: {"null", "null"},
	} {
		b := column.NewBuilder(kind)
		b.Add(filter.Int(3))
		b.Add(filter.Text("x"))
		c, err := column.Open(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]string{c.Value(0).String(), c.Value(1).String()}; got != want {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
}

// Any bytes are a column or refused; what is opened has the length that it says.
func FuzzOpen(f *testing.F) {
	for kind, vs := range samples {
		b := column.NewBuilder(kind)
		for _, v := range vs {
			b.Add(v)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := column.Open(b); err == nil && c.Len() > 8*len(b) {
			t.Fatalf("%d values of %d bytes", c.Len(), len(b))
		}
	})
}

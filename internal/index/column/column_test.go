package column_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// rare returns a value of a type that hardly any other equals.
func rare(rng *rand.Rand, kind filter.Type) filter.Value {
	switch kind {
	case filter.Integer:
		return filter.Int(rng.Int64() - 1<<62)
	case filter.RealNumber:
		return filter.Real(rng.NormFloat64())
	case filter.TextType:
		return filter.Text(fmt.Sprint(rng.IntN(10_000)))
	case filter.Boolean:
		return filter.Bool(true)
	}
	one := rare(rng, kind.Element())
	return filter.List(kind, one, samples[kind.Element()][0], one)
}

// build makes a column of n random samples, some rare, some absent. Of ten thousand and more, numbers are in ascending
// order for the most part.
func build(t testing.TB, kind filter.Type, n int) (*column.Column, []filter.Value) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(kind)))
	values := make([]filter.Value, n)
	for i := range values {
		switch rng.IntN(8) {
		case 0, 1:
		case 2:
			values[i] = rare(rng, kind)
		default:
			values[i] = samples[kind][rng.IntN(len(samples[kind]))]
		}
	}
	if n >= 10_000 && (kind == filter.Integer || kind == filter.RealNumber) {
		slices.SortFunc(values[n/8:], func(a, b filter.Value) int { order, _ := filter.Order(a, b); return order })
	}
	b := column.NewBuilder(kind)
	for _, v := range values {
		b.Add(v)
	}
	c, err := column.Open(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return c, values
}

// summarised returns c with its summary.
func summarised(t testing.TB, c *column.Column) *column.Column {
	t.Helper()
	b := c.Summary()
	if b == nil {
		return c
	}
	out, err := c.Summarised(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
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

// Every condition on every type holds for exactly the values that package filter says, absent ones among them, with a
// summary of the column and without.
func TestConditions(t *testing.T) {
	t.Parallel()
	for kind := range samples {
		for _, n := range []int{1, 63, 64, 65, 200, 3000, 12_345} {
			c, values := build(t, kind, n)
			compared := constants()
			for i := 0; i < n; i += 1 + n/8 { // rare ones too
				if v := values[i]; v.Kind().IsList() {
					compared = append(compared, v.Elements()...)
				} else if !v.IsAbsent() {
					compared = append(compared, v)
				}
			}
			conditions(t, kind.String(), c, values, compared)
			conditions(t, kind.String()+" summarised", summarised(t, c), values, compared)
		}
	}
}

// conditions holds every condition on a column with each of some constants to the values.
func conditions(t *testing.T, name string, c *column.Column, values, compared []filter.Value) {
	t.Helper()
	n := len(values)
	out := make([]uint64, (n+63)/64)
	c.IsNull(out)
	same(t, name+" IS NULL", out, bitsOf(n, func(i int) bool { return values[i].IsAbsent() }))
	for k, v := range compared {
		for op := filter.Eq; op <= filter.Ge && !c.Type().IsList(); op++ {
			c.Compare(op, v, out)
			same(t, fmt.Sprintf("%s compare %d %v", name, op, v), out, bitsOf(n, func(i int) bool { return holds(op, values[i], v) }))
		}
		c.Contains(v, out)
		same(t, name+" contains "+v.String(), out, bitsOf(n, func(i int) bool {
			return slices.ContainsFunc(values[i].Elements(), func(e filter.Value) bool { return filter.Equal(e, v) })
		}))
		if vs := compared[k/2 : k]; !c.Type().IsList() {
			c.In(vs, out)
			same(t, name+" in", out, bitsOf(n, func(i int) bool {
				return slices.ContainsFunc(vs, func(w filter.Value) bool { return filter.Equal(values[i], w) })
			}))
		}
	}
}

// A summary that is not of a column, or cut off, is refused, and a small or boolean column has none.
func TestSummaryOfAnother(t *testing.T) {
	t.Parallel()
	c, _ := build(t, filter.Integer, 500)
	other, _ := build(t, filter.Integer, 501)
	text, _ := build(t, filter.TextType, 500)
	whole := c.Summary()
	for name, b := range map[string][]byte{
		"none": nil, "of more rows": other.Summary(), "of texts": text.Summary(), "cut off": whole[:len(whole)-1],
		"too long": append(slices.Clone(whole), 0), "head": whole[:20],
	} {
		if _, err := c.Summarised(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	few, _ := build(t, filter.Integer, 63)
	yes, _ := build(t, filter.Boolean, 500)
	if few.Summary() != nil || yes.Summary() != nil {
		t.Error("a column that needs no summary has one")
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

// Any bytes are a summary of a column or refused, and whatever they are, conditions end and set no bit past the end.
func FuzzSummarised(f *testing.F) {
	kinds := []filter.Type{filter.Integer, filter.RealNumber, filter.TextType, filter.IntegerList, filter.TextList}
	columns := map[filter.Type]*column.Column{}
	for i, kind := range kinds {
		columns[kind], _ = build(f, kind, 3001)
		f.Add(uint8(i), columns[kind].Summary())
	}
	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		c, err := columns[kinds[int(kind)%len(kinds)]].Summarised(b)
		if err != nil {
			return
		}
		out := make([]uint64, (c.Len()+63)/64)
		for _, v := range constants() {
			c.Contains(v, out)
			for op := filter.Eq; op <= filter.Ge; op++ {
				c.Compare(op, v, out)
			}
			c.In(constants(), out)
		}
	})
}

// BenchmarkConditions measures conditions on a million values of 20, of 1,000 and of as many texts, and on numbers in no order
// and in order of time, each without a summary and with it.
func BenchmarkConditions(b *testing.B) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 1))
	columnOf := func(kind filter.Type, value func(i int) filter.Value) *column.Column {
		c := column.NewBuilder(kind)
		for i := range n {
			c.Add(value(i))
		}
		out, err := column.Open(c.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	twenty := columnOf(filter.TextType, func(int) filter.Value { return filter.Text(fmt.Sprint("a", rng.IntN(20))) })
	hundred := columnOf(filter.TextType, func(int) filter.Value { return filter.Text(fmt.Sprint("s", rng.IntN(100))) })
	thousand := columnOf(filter.TextType, func(int) filter.Value { return filter.Text(fmt.Sprint("t", rng.IntN(1000))) })
	unique := columnOf(filter.TextType, func(i int) filter.Value { return filter.Text(fmt.Sprint("d", i)) })
	numbers := columnOf(filter.Integer, func(int) filter.Value { return filter.Int(rng.Int64N(1000)) })
	reals := columnOf(filter.RealNumber, func(int) filter.Value { return filter.Real(rng.Float64()) })
	times := columnOf(filter.Integer, func(i int) filter.Value { return filter.Int(int64(i)*7 + rng.Int64N(100)) })
	tags := columnOf(filter.TextList, func(int) filter.Value {
		return filter.List(filter.TextList, filter.Text(fmt.Sprint("t", rng.IntN(50))), filter.Text(fmt.Sprint("t", rng.IntN(5000))))
	})
	for _, bc := range []struct {
		name string
		c    *column.Column
		eval func(c *column.Column, out []uint64)
	}{
		{"text of 20", twenty, func(c *column.Column, out []uint64) { c.Compare(filter.Eq, filter.Text("a7"), out) }},
		{"text of 20 in 5", twenty, func(c *column.Column, out []uint64) {
			c.In([]filter.Value{filter.Text("a1"), filter.Text("a3"), filter.Text("a5"), filter.Text("a7"), filter.Text("a9")}, out)
		}},
		{"text of 100", hundred, func(c *column.Column, out []uint64) { c.Compare(filter.Eq, filter.Text("s7"), out) }},
		{"text of 1000", thousand, func(c *column.Column, out []uint64) { c.Compare(filter.Eq, filter.Text("t7"), out) }},
		{"text of 1000 from", thousand, func(c *column.Column, out []uint64) { c.Compare(filter.Ge, filter.Text("t5"), out) }},
		{"unique text", unique, func(c *column.Column, out []uint64) { c.Compare(filter.Eq, filter.Text("d77777"), out) }},
		{"number of 1000", numbers, func(c *column.Column, out []uint64) { c.Compare(filter.Eq, filter.Int(7), out) }},
		{"number below", numbers, func(c *column.Column, out []uint64) { c.Compare(filter.Lt, filter.Int(500), out) }},
		{"real below", reals, func(c *column.Column, out []uint64) { c.Compare(filter.Lt, filter.Real(0.1), out) }},
		{"time from", times, func(c *column.Column, out []uint64) { c.Compare(filter.Ge, filter.Int(6_900_000), out) }},
		{"list has frequent", tags, func(c *column.Column, out []uint64) { c.Contains(filter.Text("t7"), out) }},
		{"list has rare", tags, func(c *column.Column, out []uint64) { c.Contains(filter.Text("t777"), out) }},
	} {
		out := make([]uint64, (n+63)/64)
		s := summarised(b, bc.c)
		for name, c := range map[string]*column.Column{"scan": bc.c, "summary": s} {
			b.Run(bc.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					bc.eval(c, out)
				}
			})
		}
	}
}

package column

import (
	"math"

	"quarry/internal/expr/filter"
)

// The rank of a scalar is an int64 that orders values as the language does: the integer itself, the code of a text in the
// sorted dictionary, the bits of a real number with those below the sign turned over when it is negative. So every
// comparison with a constant is one of ranks with two bounds. Zero alone has two ranks, -1 where it is negative.

// flip is the bits that turn over in the rank of a negative real number.
const flip = math.MaxInt64

func realRank(f float64) int64 {
	x := int64(math.Float64bits(f))
	return x ^ x>>63&flip
}

// rank returns the rank of an element.
func (c *Column) rank(e int) int64 {
	switch c.kind.Element() {
	case filter.TextType:
		return int64(u32(c.data, 4*e))
	case filter.RealNumber:
		return realRank(c.real(e))
	}
	return c.integer(e)
}

// span is the ranks from lo to hi, both included; none where lo is above hi.
type span struct{ lo, hi int64 }

var (
	everything = span{math.MinInt64, math.MaxInt64}
	nothing    = span{1, 0}
)

func (s span) empty() bool { return s.lo > s.hi }

func (s span) has(rank int64) bool { return rank >= s.lo && rank <= s.hi }

// span returns the ranks that stand to v in the relation op, which is not Ne.
func (c *Column) span(op filter.Op, v filter.Value) span {
	switch kind, number := c.kind.Element(), v.Kind() == filter.Integer || v.Kind() == filter.RealNumber; {
	case kind == filter.Integer && v.Kind() == filter.Integer:
		return span{v.Integer(), v.Integer()}.relative(op)
	case kind == filter.Integer && number:
		return integers(op, v.Float())
	case kind == filter.RealNumber && number && v.Float() == 0:
		return span{-1, 0}.relative(op)
	case kind == filter.RealNumber && number:
		r := realRank(v.Float())
		return span{r, r}.relative(op)
	case kind == filter.TextType && v.Kind() == filter.TextType:
		code, found := c.search(v.Text())
		if found {
			return span{int64(code), int64(code)}.relative(op)
		}
		return span{int64(code), int64(code) - 1}.relative(op)
	}
	return nothing
}

// relative returns the ranks that stand in the relation op to a value with the ranks of s. Where no rank is the value's, s.lo
// is the first above it and s.hi the last below.
func (s span) relative(op filter.Op) span {
	switch {
	case op == filter.Eq:
		return s
	case op == filter.Lt && s.lo > math.MinInt64:
		return span{math.MinInt64, s.lo - 1}
	case op == filter.Le:
		return span{math.MinInt64, s.hi}
	case op == filter.Gt && s.hi < math.MaxInt64:
		return span{s.hi + 1, math.MaxInt64}
	case op == filter.Ge:
		return span{s.lo, math.MaxInt64}
	}
	return nothing
}

// integers returns the integers that stand to f in the relation op, as float64 compares them: from 2^53 on several are equal.
func integers(op filter.Op, f float64) span {
	lo, some := first(func(i int64) bool { return float64(i) >= f })
	above, more := first(func(i int64) bool { return float64(i) > f })
	switch {
	case !some && (op == filter.Lt || op == filter.Le): // all are below
		return everything
	case !some:
		return nothing
	case !more:
		return span{lo, math.MaxInt64}.relative(op)
	case above > math.MinInt64:
		return span{lo, above - 1}.relative(op)
	case op == filter.Gt || op == filter.Ge: // all are above
		return everything
	}
	return nothing
}

// first returns the least integer for which test holds, as it does for all above that one.
func first(test func(int64) bool) (i int64, ok bool) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if !test(hi) {
		return 0, false
	}
	for lo < hi {
		mid := lo + int64((uint64(hi)-uint64(lo))/2)
		if test(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, true
}

package column

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"quarry/internal/expr/filter"
)

// Each condition sets the bits of the values for which it holds in out, which has a word for every 64 values and is
// overwritten whole.

// IsNull holds where there is no value.
func (c *Column) IsNull(out []uint64) {
	for i := range out {
		out[i] = ^word(c.present, i)
	}
	c.trim(out)
}

func word(set []byte, i int) uint64 { return binary.LittleEndian.Uint64(set[8*i:]) }

// trim clears the bits past the last value.
func (c *Column) trim(out []uint64) {
	if r := c.n & 63; r != 0 {
		out[len(out)-1] &= 1<<r - 1
	}
}

// Compare holds where the scalar value stands to v in the relation op. Where there is no value, Ne alone holds.
func (c *Column) Compare(op filter.Op, v filter.Value, out []uint64) {
	clear(out)
	switch {
	case op == filter.Ne:
		c.Compare(filter.Eq, v, out)
		for i := range out {
			out[i] = ^out[i]
		}
		c.trim(out)
	case c.kind.IsList():
	case c.kind == filter.Boolean:
		if v.Kind() == filter.Boolean && (op == filter.Eq || op == filter.Le || op == filter.Ge) {
			c.truth(v.Bool() || op == filter.Ge, !v.Bool() || op == filter.Le, out)
		} else if v.Kind() == filter.Boolean {
			c.truth(!v.Bool() && op == filter.Gt, v.Bool() && op == filter.Lt, out)
		}
	default:
		c.within(c.span(op, v), out)
	}
}

// truth adds the booleans that are true, and those that are false.
func (c *Column) truth(yes, no bool, out []uint64) {
	for i := range out {
		present, data := word(c.present, i), word(c.data, i)
		if yes {
			out[i] |= present & data
		}
		if no {
			out[i] |= present &^ data
		}
	}
}

// In holds where the scalar value equals one of vs.
func (c *Column) In(vs []filter.Value, out []uint64) {
	clear(out)
	var rare []int64 // ranks that no set is of
	for _, v := range vs {
		switch {
		case c.kind.IsList():
		case c.kind == filter.Boolean:
			c.truth(v.Kind() == filter.Boolean && v.Bool(), v.Kind() == filter.Boolean && !v.Bool(), out)
		default:
			s := c.span(filter.Eq, v)
			if s.lo != s.hi {
				c.within(s, out)
			} else if !c.summary.known(s, out) {
				rare = append(rare, s.lo)
			}
		}
	}
	if len(rare) == 1 {
		c.within(span{rare[0], rare[0]}, out)
	} else if len(rare) > 1 {
		slices.Sort(rare)
		c.where(out, func(i int) bool {
			_, found := slices.BinarySearch(rare, c.rank(i))
			return found
		})
	}
}

// Contains holds where the list has an element that equals v.
func (c *Column) Contains(v filter.Value, out []uint64) {
	clear(out)
	if !c.kind.IsList() {
		return
	}
	s, some := c.clip(c.span(filter.Eq, v))
	if !some || s.lo == s.hi && c.summary.known(s, out) {
		return
	}
	owner := 0
	for e, n := 0, int(u32(c.offsets, 4*c.n)); e < n; e += 64 {
		for b := c.elementsIn(s, e, min(e+64, n)); b != 0; b &= b - 1 {
			for at := e + bits.TrailingZeros64(b); int(u32(c.offsets, 4*owner+4)) <= at; {
				owner++
			}
			out[owner>>6] |= 1 << (owner & 63)
		}
	}
}

// unsummed returns the values that the sets of the summary leave open, as bits; nil for none.
func (c *Column) unsummed() []byte {
	if c.summary == nil {
		return c.present
	}
	return c.summary.rest
}

// where adds the values that pass test, but for those whose sets the summary has.
func (c *Column) where(out []uint64, test func(i int) bool) {
	mask := c.unsummed()
	for w := range len(mask) / 8 {
		for b := word(mask, w); b != 0; b &= b - 1 {
			if i := bits.TrailingZeros64(b); test(w<<6 + i) {
				out[w] |= 1 << i
			}
		}
	}
}

// within adds the values in s: from the sets of the summary, or by looking at all values where that takes less.
func (c *Column) within(s span, out []uint64) {
	switch {
	case s.empty() || s.lo == s.hi && c.summary.known(s, out):
	case c.summary == nil || c.summary.cost(s) > c.cost(s):
		c.scan(s, c.present, out)
	default:
		c.summary.add(s, out)
		c.scan(s, c.summary.rest, out)
	}
}

// cost returns about how many values a scan for s looks at.
func (c *Column) cost(s span) int {
	if c.summary == nil || len(c.summary.zones) == 0 {
		return c.n
	}
	some := 0
	for z := range len(c.summary.zones) / zoneBytes {
		if zone := c.summary.zone(z); zone.meets(s) && !zone.inside(s) {
			some += zoneRows
		}
	}
	return some
}

// scan adds the values in s of those in mask. Of numbers it looks only at zones that have some in s and some not.
func (c *Column) scan(s span, mask []byte, out []uint64) {
	if c.summary == nil || len(c.summary.zones) == 0 {
		c.scanWords(s, mask, out, 0, len(mask)/8)
		return
	}
	const words = zoneRows / 64
	for from := 0; from < len(mask)/8; from += words {
		to := min(from+words, len(mask)/8)
		zone := c.summary.zone(from / words)
		switch {
		case zone.inside(s):
			for w := from; w < to; w++ {
				out[w] |= word(mask, w)
			}
		case zone.meets(s):
			c.scanWords(s, mask, out, from, to)
		}
	}
}

// sparse is the number of values in a word below which they are looked at one by one.
const sparse = 16

// scanWords adds the values in s of those in some words of mask.
func (c *Column) scanWords(s span, mask []byte, out []uint64, from, to int) {
	s, some := c.clip(s)
	if !some {
		return
	}
	for w := from; w < to; w++ {
		m := word(mask, w)
		if bits.OnesCount64(m) >= sparse {
			out[w] |= m & c.elementsIn(s, w<<6, min(w<<6+64, c.n))
			continue
		}
		for b := m; b != 0; b &= b - 1 {
			if i := bits.TrailingZeros64(b); s.has(c.rank(w<<6 + i)) {
				out[w] |= 1 << i
			}
		}
	}
}

// clip returns the ranks of s that elements may have, if there are any.
func (c *Column) clip(s span) (span, bool) {
	if c.kind.Element() == filter.TextType {
		s = span{max(s.lo, 0), min(s.hi, int64(c.entries)-1)}
	}
	return s, !s.empty()
}

// elementsIn returns which of up to 64 elements have a rank in s, which clip returned.
func (c *Column) elementsIn(s span, from, to int) uint64 {
	switch c.kind.Element() {
	case filter.TextType:
		return codesIn(c.data[4*from:4*to], s)
	case filter.RealNumber:
		return numbersIn(c.data[8*from:8*to], s, flip)
	}
	return numbersIn(c.data[8*from:8*to], s, 0)
}

// codesIn returns which of up to 64 codes are in s, without a branch. s begins and ends with a code.
func codesIn(data []byte, s span) (set uint64) {
	lo, n := uint32(s.lo), uint64(s.hi-s.lo+1)
	for i := 0; len(data) >= 4; i++ {
		set |= (uint64(binary.LittleEndian.Uint32(data)-lo) - n) >> 63 << (i & 63)
		data = data[4:]
	}
	return set
}

// numbersIn returns which of up to 64 numbers have a rank in s, without a branch. Of negative ones, turned bits turn over.
func numbersIn(data []byte, s span, turned int64) (set uint64) {
	width := uint64(s.hi) - uint64(s.lo)
	for i := 0; len(data) >= 8; i++ {
		x := int64(binary.LittleEndian.Uint64(data))
		x ^= x >> 63 & turned
		_, past := bits.Sub64(width, uint64(x)-uint64(s.lo), 0)
		set |= (past ^ 1) << (i & 63)
		data = data[8:]
	}
	return set
}

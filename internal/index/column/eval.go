package column

import (
	"cmp"
	"encoding/binary"
	"math/bits"

	"quarry/internal/expr/filter"
)

// Each condition sets the bits of the values for which it holds in out, which has a word for every 64 values and is
// overwritten whole.

// IsNull holds where there is no value.
func (c *Column) IsNull(out []uint64) {
	c.presence(out)
	for i := range out {
		out[i] = ^out[i]
	}
	c.trim(out)
}

func (c *Column) presence(out []uint64) {
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(c.present[8*i:])
	}
}

// trim clears the bits past the last value.
func (c *Column) trim(out []uint64) {
	if r := c.n & 63; r != 0 {
		out[len(out)-1] &= 1<<r - 1
	}
}

// wants[op] has bit 0, 1 or 2 set when the operator holds for less, equal and greater.
var wants = map[filter.Op]uint8{
	filter.Eq: 1 << 1, filter.Ne: 1 << 1, filter.Lt: 1, filter.Le: 1 | 1<<1, filter.Gt: 1 << 2, filter.Ge: 1<<2 | 1<<1,
}

// Compare holds where the scalar value stands to v in the relation op. Where there is no value, Ne alone holds.
func (c *Column) Compare(op filter.Op, v filter.Value, out []uint64) {
	want := wants[op]
	c.where(out, c.comparison(v, want))
	if op == filter.Ne {
		for i := range out {
			out[i] = ^out[i]
		}
		c.trim(out)
	}
}

// never is the condition that no value meets.
func never(int) bool { return false }

// comparison returns a test for the values that are present. want is as in wants.
func (c *Column) comparison(v filter.Value, want uint8) func(i int) bool {
	holds := func(order int) bool { return want>>(order+1)&1 == 1 }
	number := v.Kind() == filter.Integer || v.Kind() == filter.RealNumber
	switch {
	case c.kind == filter.Integer && v.Kind() == filter.Integer:
		n := v.Integer()
		return func(i int) bool { return holds(cmp.Compare(c.integer(i), n)) }
	case c.kind == filter.Integer && number:
		f := v.Float()
		return func(i int) bool { return holds(cmp.Compare(float64(c.integer(i)), f)) }
	case c.kind == filter.RealNumber && number:
		f := v.Float()
		return func(i int) bool { return holds(cmp.Compare(c.real(i), f)) }
	case c.kind == filter.Boolean && v.Kind() == filter.Boolean:
		yes, no := holds(cmp.Compare(1, truth(v))), holds(cmp.Compare(0, truth(v)))
		return func(i int) bool {
			if bit(c.data, i) {
				return yes
			}
			return no
		}
	case c.kind == filter.TextType && v.Kind() == filter.TextType:
		return c.textComparison(v.Text(), want)
	}
	return never
}

func truth(v filter.Value) int {
	if v.Bool() {
		return 1
	}
	return 0
}

// textComparison returns the test of a condition on texts, which is a range of codes: the dictionary is sorted.
func (c *Column) textComparison(s string, want uint8) func(i int) bool {
	code, found := c.search(s)
	above := code // first code that is greater
	if found {
		above++
	}
	lo, hi := uint32(code), uint32(above)
	if want&1 != 0 {
		lo = 0
	}
	if want&(1<<2) != 0 {
		hi = uint32(c.entries)
		if want&(1<<1) == 0 {
			lo = uint32(above)
		}
	} else if want&(1<<1) == 0 {
		hi = uint32(code)
	}
	return func(i int) bool { x := u32(c.data, 4*i); return x >= lo && x < hi }
}

// In holds where the scalar value equals one of vs.
func (c *Column) In(vs []filter.Value, out []uint64) {
	if c.kind == filter.TextType {
		wanted := map[uint32]bool{}
		for _, v := range vs {
			if code, found := c.search(v.Text()); found && v.Kind() == filter.TextType {
				wanted[uint32(code)] = true
			}
		}
		if len(wanted) == 0 {
			clear(out)
			return
		}
		c.where(out, func(i int) bool { return wanted[u32(c.data, 4*i)] })
		return
	}
	tests := make([]func(int) bool, len(vs))
	for k, v := range vs {
		tests[k] = c.comparison(v, wants[filter.Eq])
	}
	c.where(out, func(i int) bool {
		for _, t := range tests {
			if t(i) {
				return true
			}
		}
		return false
	})
}

// Contains holds where the list has an element that equals v.
func (c *Column) Contains(v filter.Value, out []uint64) {
	clear(out)
	if !c.kind.IsList() {
		return
	}
	elements := *c // the elements as if they were values
	elements.kind = c.kind.Element()
	test := elements.comparison(v, wants[filter.Eq])
	c.where(out, func(i int) bool {
		for e := int(u32(c.offsets, 4*i)); e < int(u32(c.offsets, 4*i+4)); e++ {
			if test(e) {
				return true
			}
		}
		return false
	})
}

// where sets the bits of the present values that pass test.
func (c *Column) where(out []uint64, test func(i int) bool) {
	for w := range out {
		present := binary.LittleEndian.Uint64(c.present[8*w:])
		var set uint64
		for b := present; b != 0; b &= b - 1 {
			low := b & -b
			if test(w<<6 + trailing(low)) {
				set |= low
			}
		}
		out[w] = set
	}
}

func trailing(b uint64) int { return bits.TrailingZeros64(b) }

// Package column holds the values of one attribute for every document or part of a segment and evaluates the simple
// conditions of a filter on all of them at once. It knows nothing of files, rows of documents and boolean structure.
// Package index calls it.
//
// A column is one run of bytes, read where it lies: texts as codes into a sorted dictionary, numbers as 64 bits,
// booleans as bits, lists as offsets into their elements, and one bit per value that is set where there is one. A
// summary beside it, which it can do without, holds the rows of frequent values and the bounds of numbers.
package column

import (
	"encoding/binary"
	"errors"
	"math"
	"sort"

	"quarry/internal/expr/filter"
)

// Column is a view of encoded values. Safe for concurrent use.
type Column struct {
	raw     []byte
	kind    filter.Type
	n       int    // values
	present []byte // bits
	offsets []byte // of lists: n+1 numbers of elements
	data    []byte // 8 bytes per number, 4 per code, bits for booleans
	names   []byte // offsets into texts
	texts   []byte // of the dictionary
	entries int    // of the dictionary
	summary *summary
}

// head is kind, n, elements, entries of the dictionary and its bytes.
const head = 24

// words8 is the number of bytes of n bits, in whole words.
func words8(n int) int { return (n + 63) / 64 * 8 }

// Open returns the column that Builder.Bytes encoded. It checks sizes alone: the checksum of the section vouches for
// the content.
func Open(b []byte) (*Column, error) {
	if len(b) < head {
		return nil, errors.New("open column: no head")
	}
	c := &Column{raw: b, kind: filter.Type(b[0]), n: int(u32(b, 4)), entries: int(u32(b, 12))}
	elements, texts := int(u32(b, 8)), int(u32(b, 16))
	b = b[head:]
	ok := true
	take := func(n int) []byte {
		if n < 0 || n > len(b) {
			ok = false
			return nil
		}
		part := b[:n:n]
		b = b[n:]
		return part
	}
	c.present = take(words8(c.n))
	if c.kind.IsList() {
		c.offsets = take(4 * (c.n + 1))
	}
	switch c.kind.Element() {
	case filter.Boolean:
		c.data = take(words8(elements))
	case filter.TextType:
		c.data = take(4 * elements)
		c.names = take(4 * (c.entries + 1))
		c.texts = take(texts)
	case filter.Integer, filter.RealNumber:
		c.data = take(8 * elements)
	default:
		ok = false
	}
	if !ok || len(b) != 0 {
		return nil, errors.New("open column: sizes do not fit")
	}
	return c, nil
}

func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

func bit(b []byte, i int) bool { return b[i>>3]>>(i&7)&1 == 1 }

// Type returns the type of the values.
func (c *Column) Type() filter.Type { return c.kind }

// Len returns the number of values, absent ones included.
func (c *Column) Len() int { return c.n }

// Bytes returns the encoded column. The caller must not modify it.
func (c *Column) Bytes() []byte { return c.raw }

// Value returns value i. Texts are copies: they outlive the segment.
func (c *Column) Value(i int) filter.Value {
	if !bit(c.present, i) {
		return filter.Value{}
	}
	if !c.kind.IsList() {
		return c.element(i)
	}
	from, to := int(u32(c.offsets, 4*i)), int(u32(c.offsets, 4*i+4))
	list := make([]filter.Value, 0, to-from)
	for e := from; e < to; e++ {
		list = append(list, c.element(e))
	}
	return filter.List(c.kind, list...)
}

func (c *Column) element(e int) filter.Value {
	switch c.kind.Element() {
	case filter.Integer:
		return filter.Int(c.integer(e))
	case filter.RealNumber:
		return filter.Real(c.real(e))
	case filter.Boolean:
		return filter.Bool(bit(c.data, e))
	default:
		return filter.Text(string(c.text(int(u32(c.data, 4*e)))))
	}
}

func (c *Column) integer(e int) int64 { return int64(binary.LittleEndian.Uint64(c.data[8*e:])) }

func (c *Column) real(e int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(c.data[8*e:]))
}

// text returns an entry of the dictionary.
func (c *Column) text(code int) []byte {
	return c.texts[u32(c.names, 4*code):u32(c.names, 4*code+4)]
}

// search returns the first entry of the dictionary that is not below s, and whether it is s.
func (c *Column) search(s string) (code int, found bool) {
	code = sort.Search(c.entries, func(i int) bool { return string(c.text(i)) >= s })
	return code, code < c.entries && string(c.text(code)) == s
}

package column

import (
	"encoding/binary"
	"math"
	"slices"

	"quarry/internal/expr/filter"
)

// Builder gathers the values of one attribute. Not safe for concurrent use.
type Builder struct {
	kind    filter.Type
	n       int
	present []byte
	offsets []byte
	bits    []byte // booleans
	numbers []byte
	codes   []uint32
	dict    map[string]uint32
	count   int // of elements
}

// NewBuilder returns an empty builder of values of type kind.
func NewBuilder(kind filter.Type) *Builder {
	b := &Builder{kind: kind}
	if kind.Element() == filter.TextType {
		b.dict = map[string]uint32{}
	}
	return b
}

// Add appends a value. One whose type is not the column's counts as absent, but an integer is a real number too.
func (b *Builder) Add(v filter.Value) {
	ok := v.Kind() == b.kind || b.kind == filter.RealNumber && v.Kind() == filter.Integer ||
		b.kind == filter.RealList && v.Kind() == filter.IntegerList
	b.present = setBit(b.present, b.n, ok)
	b.n++
	if !b.kind.IsList() {
		if !ok {
			v = filter.Value{}
		}
		b.element(v)
		return
	}
	b.offsets = binary.LittleEndian.AppendUint32(b.offsets, uint32(b.count))
	if ok {
		for _, e := range v.Elements() {
			b.element(e)
		}
	}
}

// element appends a scalar; the zero value stands where there is none.
func (b *Builder) element(v filter.Value) {
	switch b.kind.Element() {
	case filter.Integer:
		b.numbers = binary.LittleEndian.AppendUint64(b.numbers, uint64(v.Integer()))
	case filter.RealNumber:
		b.numbers = binary.LittleEndian.AppendUint64(b.numbers, math.Float64bits(v.Float()))
	case filter.Boolean:
		b.bits = setBit(b.bits, b.count, v.Bool())
	default:
		b.codes = append(b.codes, b.code(v))
	}
	b.count++
}

func (b *Builder) code(v filter.Value) uint32 {
	if v.IsAbsent() {
		return 0 // never read: the value's bit says that it is absent
	}
	c, known := b.dict[v.Text()]
	if !known {
		c = uint32(len(b.dict))
		b.dict[v.Text()] = c
	}
	return c
}

// setBit appends bit i, the next one, and a whole word with the first of 64: filters read words.
func setBit(bits []byte, i int, on bool) []byte {
	if i%64 == 0 {
		bits = append(bits, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	if on {
		bits[i>>3] |= 1 << (i & 7)
	}
	return bits
}

// Bytes returns the encoded column. The builder must not be used afterwards.
func (b *Builder) Bytes() []byte {
	names, texts := b.sort()
	out := make([]byte, head, head+len(b.present)+len(b.offsets)+len(b.bits)+len(b.numbers)+4*len(b.codes)+len(names)+len(texts)+8)
	out[0] = byte(b.kind)
	binary.LittleEndian.PutUint32(out[4:], uint32(b.n))
	binary.LittleEndian.PutUint32(out[8:], uint32(b.count))
	binary.LittleEndian.PutUint32(out[12:], uint32(len(b.dict)))
	binary.LittleEndian.PutUint32(out[16:], uint32(len(texts)))
	out = append(out, b.present...)
	if b.kind.IsList() {
		out = append(out, b.offsets...)
		out = binary.LittleEndian.AppendUint32(out, uint32(b.count))
	}
	out = append(out, b.bits...)
	out = append(out, b.numbers...)
	for _, c := range b.codes {
		out = binary.LittleEndian.AppendUint32(out, c)
	}
	out = append(out, names...)
	return append(out, texts...)
}

// sort returns the dictionary in the order of its texts, as offsets and bytes, and renames the codes to match: so a
// comparison of texts is one of codes.
func (b *Builder) sort() (names, texts []byte) {
	if b.dict == nil {
		return nil, nil
	}
	sorted := make([]string, 0, len(b.dict))
	for s := range b.dict {
		sorted = append(sorted, s)
	}
	slices.Sort(sorted)
	to := make([]uint32, max(1, len(sorted)))
	for i, s := range sorted {
		to[b.dict[s]] = uint32(i)
		names = binary.LittleEndian.AppendUint32(names, uint32(len(texts)))
		texts = append(texts, s...)
	}
	for i, c := range b.codes {
		b.codes[i] = to[c]
	}
	return binary.LittleEndian.AppendUint32(names, uint32(len(texts))), texts
}

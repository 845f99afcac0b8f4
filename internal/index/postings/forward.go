package postings

import "encoding/binary"

// Forward is the terms of each row: what a delete takes from the statistics, and how single rows are scored. Safe for
// concurrent use.
type Forward struct {
	Offsets []byte // per row, and the end
	Data    []byte // per term: delta of the ordinal, frequency
}

// Row walks the terms of a row, in order of their ordinals.
func (f *Forward) Row(row int) ForwardWalk {
	return ForwardWalk{data: f.Data[u32(f.Offsets, 4*row):u32(f.Offsets, 4*row+4)]}
}

// ForwardWalk is a position in the terms of a row.
type ForwardWalk struct {
	Ordinal uint32
	Freq    uint32
	data    []byte
}

// Next moves to the next term and reports whether there is one.
func (w *ForwardWalk) Next() bool {
	if len(w.data) == 0 {
		return false
	}
	d, n := binary.Uvarint(w.data)
	f, m := binary.Uvarint(w.data[n:])
	w.data = w.data[n+m:]
	w.Ordinal += uint32(d)
	w.Freq = uint32(f)
	return true
}

// ForwardBuilder writes a Forward row by row.
type ForwardBuilder struct {
	f    Forward
	last uint32
}

// Begin starts the next row.
func (b *ForwardBuilder) Begin() {
	b.f.Offsets = binary.LittleEndian.AppendUint32(b.f.Offsets, uint32(len(b.f.Data)))
	b.last = 0
}

// Add appends a term to the row; ordinals ascend.
func (b *ForwardBuilder) Add(ordinal, freq uint32) {
	b.f.Data = binary.AppendUvarint(b.f.Data, uint64(ordinal-b.last))
	b.f.Data = binary.AppendUvarint(b.f.Data, uint64(freq))
	b.last = ordinal
}

// Forward returns what was added. The builder must not be used afterwards.
func (b *ForwardBuilder) Forward() *Forward {
	b.Begin()
	return &b.f
}

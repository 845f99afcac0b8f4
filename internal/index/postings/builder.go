package postings

import (
	"encoding/binary"
	"math/bits"
)

// Builder writes a field; terms come in ascending order of their bytes. Not safe for concurrent use.
type Builder struct {
	// Lengths has a LengthByte for each row; nil = the field has no bounds.
	Lengths []byte
	f       Field
	n       int
	last    []byte
	lists   []byte // bounds of the lists; those of the blocks are in f until Field
}

// List is what a term has: rows ascending, a frequency ≥ 1 for each, and positions, ascending within each row, freq of
// them for each, or none at all.
type List struct {
	Rows      []uint32
	Freqs     []uint32
	Positions []uint32
}

func (l *List) reset() { l.Rows, l.Freqs, l.Positions = l.Rows[:0], l.Freqs[:0], l.Positions[:0] }

// Add appends a term and returns its ordinal.
func (b *Builder) Add(term []byte, l *List) int {
	b.name(term)
	b.f.Terms = binary.LittleEndian.AppendUint32(b.f.Terms, uint32(len(l.Rows)))
	b.f.Terms = binary.LittleEndian.AppendUint32(b.f.Terms, uint32(len(b.f.Heads)/headSize))
	b.bounds(l)
	prev, positions := uint32(0), l.Positions
	for s := 0; s < len(l.Rows); s += BlockSize {
		e := min(s+BlockSize, len(l.Rows))
		prev = b.block(l.Rows[s:e], l.Freqs[s:e], prev, &positions)
	}
	b.n++
	return b.n - 1
}

// bounds appends the bounds of a list and its blocks.
func (b *Builder) bounds(l *List) {
	if b.Lengths == nil {
		return
	}
	var all frontier
	for s := 0; s < len(l.Rows); s += BlockSize {
		var block frontier
		for i := s; i < min(s+BlockSize, len(l.Rows)); i++ {
			block.add(l.Freqs[i], b.Lengths[l.Rows[i]])
		}
		for _, p := range block {
			all.insert(p)
		}
		b.f.Bounds = block.bound().append(b.f.Bounds)
	}
	b.lists = all.bound().append(b.lists)
}

// name appends a term to the dictionary. The first of dictBlock terms is written whole, the others without the prefix
// that they share with the one before.
func (b *Builder) name(term []byte) {
	if b.n%dictBlock == 0 {
		b.f.Index = binary.LittleEndian.AppendUint32(b.f.Index, uint32(len(b.f.Dict)))
		b.f.Dict = binary.AppendUvarint(b.f.Dict, uint64(len(term)))
		b.f.Dict = append(b.f.Dict, term...)
	} else {
		shared := 0
		for shared < len(term) && shared < len(b.last) && term[shared] == b.last[shared] {
			shared++
		}
		b.f.Dict = binary.AppendUvarint(b.f.Dict, uint64(shared))
		b.f.Dict = binary.AppendUvarint(b.f.Dict, uint64(len(term)-shared))
		b.f.Dict = append(b.f.Dict, term[shared:]...)
	}
	b.last = append(b.last[:0], term...)
}

// block writes up to BlockSize postings with their positions, which it takes from the front of positions, and returns
// the last row.
func (b *Builder) block(rows, freqs []uint32, prev uint32, positions *[]uint32) uint32 {
	var delta, less [BlockSize]uint32
	var anyRow, anyFreq uint32
	for i, r := range rows {
		delta[i], less[i] = r-prev, freqs[i]-1
		prev = r
		anyRow |= delta[i]
		anyFreq |= less[i]
	}
	rowBits, freqBits := bits.Len32(anyRow), bits.Len32(anyFreq)
	b.f.Heads = binary.LittleEndian.AppendUint32(b.f.Heads, prev)
	b.f.Heads = binary.LittleEndian.AppendUint32(b.f.Heads, uint32(len(b.f.Posts)))
	b.f.Heads = binary.LittleEndian.AppendUint32(b.f.Heads, uint32(len(b.f.Positions)))
	b.f.Heads = append(b.f.Heads, byte(rowBits), byte(freqBits), byte(len(rows)-1), 0)
	b.f.Posts = pack(b.f.Posts, delta[:len(rows)], uint(rowBits))
	b.f.Posts = pack(b.f.Posts, less[:len(rows)], uint(freqBits))
	if len(*positions) == 0 {
		return prev
	}
	for _, n := range freqs {
		last := uint32(0)
		for _, p := range (*positions)[:n] {
			b.f.Positions = binary.AppendUvarint(b.f.Positions, uint64(p-last))
			last = p
		}
		*positions = (*positions)[n:]
	}
	return prev
}

// Field returns what was added. The builder must not be used afterwards.
func (b *Builder) Field() *Field {
	b.f.Terms = binary.LittleEndian.AppendUint32(b.f.Terms, 0)
	b.f.Terms = binary.LittleEndian.AppendUint32(b.f.Terms, uint32(len(b.f.Heads)/headSize))
	b.f.Posts = append(b.f.Posts, make([]byte, spare)...)
	b.f.Bounds = append(b.lists, b.f.Bounds...)
	return &b.f
}

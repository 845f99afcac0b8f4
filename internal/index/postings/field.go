// Package postings holds the inverted lists of a segment: a sorted dictionary, for each term the rows that hold it
// with frequencies and, if asked for, positions, and the reverse, the terms of each row. It knows nothing of scores,
// files and documents. Package index calls it.
//
// Everything is read where it lies, in the byte slices that a Field is made of. Terms are front-coded in blocks of 16;
// postings are packed in blocks of 128, rows as deltas, each block with as many bits per value as its largest one needs
// (frame of reference: Lemire and Boytsov, "Decoding billions of integers per second through vectorization", 2015).
package postings

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// BlockSize is the number of postings that are packed together.
const BlockSize = 128

const (
	dictBlock = 16 // terms that share a prefix chain
	termSize  = 8  // df, first block
	headSize  = 16 // last row, offset in Posts, offset in Positions, widths of rows and frequencies, count - 1
	spare     = 8  // bytes behind the packed values: unpack reads whole words
)

// Field is the inverted lists of one kind of term. Terms have ordinals in order of their bytes. Safe for concurrent
// use; the slices must not be modified.
type Field struct {
	Dict      []byte // blocks of terms: length, bytes; then shared length, length, bytes for the others
	Index     []byte // offset of each block of the dictionary
	Terms     []byte // per term: df and the number of its first block head; one more term at the end
	Heads     []byte // block heads
	Posts     []byte // per block: deltas of rows, frequencies - 1, both packed
	Positions []byte // per posting: deltas of positions; empty when the field has none
	Bounds    []byte // per term, then per block: a Bound; empty when nothing is known
}

func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// Len returns the number of terms.
func (f *Field) Len() int { return max(0, len(f.Terms)/termSize-1) }

// DF returns the number of rows that hold a term.
func (f *Field) DF(term int) int { return int(u32(f.Terms, term*termSize)) }

// Blocks returns the blocks of a term, from the first to behind the last.
func (f *Field) Blocks(term int) (from, end int) {
	return int(u32(f.Terms, term*termSize+4)), int(u32(f.Terms, (term+1)*termSize+4))
}

// LastRow returns the last row of a block.
func (f *Field) LastRow(block int) uint32 { return u32(f.Heads, block*headSize) }

// Find returns the ordinal of a term.
func (f *Field) Find(term string) (ordinal int, ok bool) {
	it := f.seek(term)
	if it.Next() && string(it.Term) == term {
		return it.Ordinal, true
	}
	return 0, false
}

// Prefix walks the terms that begin with prefix, in order.
func (f *Field) Prefix(prefix string) *Walk {
	it := f.seek(prefix)
	it.prefix = []byte(prefix)
	return it
}

// seek returns a walk whose first Next is the first term not below term.
func (f *Field) seek(term string) *Walk {
	blocks := len(f.Index) / 4
	b := sort.Search(blocks, func(i int) bool {
		at := int(u32(f.Index, 4*i))
		n, size := binary.Uvarint(f.Dict[at:])
		return string(f.Dict[at+size:at+size+int(n)]) > term
	})
	w := f.from(max(0, b-1))
	for w.Next() {
		if string(w.Term) >= term {
			w.again = true
			break
		}
	}
	return w
}

// from returns a walk that stands before the first term of a block of the dictionary.
func (f *Field) from(block int) *Walk {
	w := &Walk{f: f, Ordinal: block*dictBlock - 1}
	if 4*block < len(f.Index) {
		w.at = int(u32(f.Index, 4*block))
	}
	return w
}

// Walk is a position in the dictionary. Term is valid until the next Next.
type Walk struct {
	Ordinal int
	Term    []byte
	f       *Field
	at      int
	again   bool // Next stays where it is
	prefix  []byte
}

// Next moves to the next term and reports whether there is one.
func (w *Walk) Next() bool {
	if w.again {
		w.again = false
		return bytes.HasPrefix(w.Term, w.prefix)
	}
	w.Ordinal++
	if w.Ordinal >= w.f.Len() {
		return false
	}
	shared := uint64(0)
	if w.Ordinal%dictBlock != 0 {
		shared = w.uvarint()
	}
	n := int(w.uvarint())
	w.Term = append(w.Term[:shared], w.f.Dict[w.at:w.at+n]...)
	w.at += n
	return bytes.HasPrefix(w.Term, w.prefix)
}

func (w *Walk) uvarint() uint64 {
	v, n := binary.Uvarint(w.f.Dict[w.at:])
	w.at += n
	return v
}

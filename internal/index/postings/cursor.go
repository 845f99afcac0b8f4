package postings

import (
	"encoding/binary"
	"slices"
	"sort"
)

// Cursor walks the list of one term block by block. The zero value is ready for Reset. Not safe for concurrent use.
type Cursor struct {
	Rows  []uint32 // of the current block
	f     *Field
	first int // block heads of the term: first … end-1
	end   int
	cur   int
	base  uint32 // last row before the block
	freqs bool   // f is decoded
	rows  [BlockSize]uint32
	tf    [BlockSize]uint32
}

// Reset puts the cursor before the first block of a term.
func (c *Cursor) Reset(f *Field, term int) {
	c.f, c.first = f, int(u32(f.Terms, term*termSize+4))
	c.end = int(u32(f.Terms, (term+1)*termSize+4))
	c.cur, c.base, c.Rows, c.freqs = c.first-1, 0, nil, false
}

// Next moves to the next block and reports whether there is one.
func (c *Cursor) Next() bool {
	if c.cur+1 >= c.end {
		c.cur, c.Rows = c.end, nil
		return false
	}
	c.load(c.cur + 1)
	return true
}

func (c *Cursor) load(block int) {
	c.cur, c.base, c.freqs = block, 0, false
	if block > c.first {
		c.base = u32(c.f.Heads, (block-1)*headSize)
	}
	h := c.f.Heads[block*headSize:][:headSize]
	n := int(h[14]) + 1
	unpack(c.rows[:n], c.f.Posts[u32(h, 4):], uint(h[12]))
	sum := c.base
	for i, d := range c.rows[:n] {
		sum += d
		c.rows[i] = sum
	}
	c.Rows = c.rows[:n]
}

// Freqs returns the frequencies that belong to Rows.
func (c *Cursor) Freqs() []uint32 {
	n := len(c.Rows)
	if !c.freqs {
		h := c.f.Heads[c.cur*headSize:][:headSize]
		unpack(c.tf[:n], c.f.Posts[int(u32(h, 4))+packedLen(n, uint(h[12])):], uint(h[13]))
		for i := range c.tf[:n] {
			c.tf[i]++
		}
		c.freqs = true
	}
	return c.tf[:n]
}

// Seek moves to the block that may hold row and returns its place there; ok is false where the term lacks the row. Rows
// must be asked for in ascending order.
func (c *Cursor) Seek(row uint32) (place int, ok bool) {
	if c.cur >= c.end {
		return 0, false
	}
	if c.cur < c.first || c.Rows[len(c.Rows)-1] < row {
		from := c.cur + 1
		block := from + sort.Search(c.end-from, func(i int) bool { return u32(c.f.Heads, (from+i)*headSize) >= row })
		if block == c.end {
			c.cur, c.Rows = c.end, nil
			return 0, false
		}
		c.load(block)
	}
	return slices.BinarySearch(c.Rows, row)
}

// Positions appends the positions of the posting at place in the current block to dst.
func (c *Cursor) Positions(dst []uint32, place int) []uint32 {
	at := c.positions()
	freqs := c.Freqs()
	for _, n := range freqs[:place] {
		at = c.skip(at, n)
	}
	dst, _ = c.read(dst, at, freqs[place])
	return dst
}

// positions returns where those of the current block begin.
func (c *Cursor) positions() int { return int(u32(c.f.Heads, c.cur*headSize+8)) }

// skip returns what stands behind the n positions at at.
func (c *Cursor) skip(at int, n uint32) int {
	p := c.f.Positions
	if len(p) == 0 {
		return at
	}
	for range n {
		for p[at] >= 0x80 {
			at++
		}
		at++
	}
	return at
}

// read appends the n positions at at to dst and returns what stands behind them.
func (c *Cursor) read(dst []uint32, at int, n uint32) ([]uint32, int) {
	sum := uint32(0)
	for range n {
		d, size := binary.Uvarint(c.f.Positions[at:])
		at += size
		sum += uint32(d)
		dst = append(dst, sum)
	}
	return dst, at
}

// pack appends v with b bits per value, least significant first.
func pack(dst []byte, v []uint32, b uint) []byte {
	var acc uint64
	var n uint
	for _, x := range v {
		acc |= uint64(x) << n
		for n += b; n >= 8; n -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if n > 0 {
		dst = append(dst, byte(acc))
	}
	return dst
}

func packedLen(n int, b uint) int { return (n*int(b) + 7) / 8 }

// unpack reads len(out) values of b bits; p has at least spare bytes behind them.
func unpack(out []uint32, p []byte, b uint) {
	if b == 0 {
		clear(out)
		return
	}
	mask := uint32(uint64(1)<<b - 1)
	at := uint(0)
	for i := range out {
		out[i] = uint32(binary.LittleEndian.Uint64(p[at>>3:])>>(at&7)) & mask
		at += b
	}
}

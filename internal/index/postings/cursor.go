package postings

import (
	"encoding/binary"
	"slices"
	"sort"
)

// Cursor walks the list of one term block by block. The zero value is ready for Reset. Not safe for concurrent use.
type Cursor struct {
	Rows []uint32 // of the current block
	// Unpacked is the number of blocks of the list that were unpacked so far; one that is left and entered again counts once
	// as long as blocks are entered in ascending order.
	Unpacked int
	last     int // the furthest of those
	f        *Field
	first    int // block heads of the term: first … end-1
	end      int
	cur      int
	base     uint32 // last row before the block
	freqs    bool   // f is decoded
	rows     [BlockSize]uint32
	tf       [BlockSize]uint32
}

// Reset puts the cursor before the first block of a term.
func (c *Cursor) Reset(f *Field, term int) {
	c.f = f
	c.first, c.end = f.Blocks(term)
	c.cur, c.base, c.Rows, c.freqs = c.first-1, 0, nil, false
	c.Unpacked, c.last = 0, c.first-1
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

// Block moves to a block of the term, unless it is the current one.
func (c *Cursor) Block(block int) {
	if block != c.cur {
		c.load(block)
	}
}

func (c *Cursor) load(block int) {
	c.cur, c.base, c.freqs = block, 0, false
	if block > c.last {
		c.Unpacked, c.last = c.Unpacked+1, block
	}
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

// unpack reads len(out) values of b bits; p has at least spare bytes behind them. A word that is read at the byte where
// a value begins holds 57 bits of what follows at least, so that narrow values come out several at a time.
func unpack(out []uint32, p []byte, b uint) {
	if b == 0 {
		clear(out)
		return
	}
	mask := uint32(uint64(1)<<b - 1)
	at := uint(0)
	switch {
	case b <= 7:
		for ; len(out) >= 8; out = out[8:] {
			v := binary.LittleEndian.Uint64(p[at>>3:]) >> (at & 7)
			o := out[:8]
			o[0] = uint32(v) & mask
			o[1] = uint32(v>>b) & mask
			o[2] = uint32(v>>(2*b)) & mask
			o[3] = uint32(v>>(3*b)) & mask
			o[4] = uint32(v>>(4*b)) & mask
			o[5] = uint32(v>>(5*b)) & mask
			o[6] = uint32(v>>(6*b)) & mask
			o[7] = uint32(v>>(7*b)) & mask
			at += 8 * b
		}
	case b <= 14:
		for ; len(out) >= 4; out = out[4:] {
			v := binary.LittleEndian.Uint64(p[at>>3:]) >> (at & 7)
			o := out[:4]
			o[0] = uint32(v) & mask
			o[1] = uint32(v>>b) & mask
			o[2] = uint32(v>>(2*b)) & mask
			o[3] = uint32(v>>(3*b)) & mask
			at += 4 * b
		}
	}
	for i := range out {
		out[i] = uint32(binary.LittleEndian.Uint64(p[at>>3:])>>(at&7)) & mask
		at += b
	}
}

package lists

import (
	"math"

	"quarry/internal/cpu"
)

// perBlock is the number of codes in a block, and blockCall that of blocks in one call of a kernel, since assembly
// can't be preempted: 1,024 codes take about two microseconds.
const (
	perBlock  = 32
	blockCall = 32
)

// A block holds one bit per dimension for each of its 32 codes, in nibbles of four dimensions. Its rows of 32 bytes each
// hold two groups of four dimensions: byte i has those of code i, the first group in the low nibble. So one shuffle of
// bytes looks up 32 codes in the table of a group, and a register of 64 bytes holds two rows.

// blockBytes returns the size of a block.
func blockBytes(width int) int { return width / 8 * perBlock }

// sums adds up, for each code of whole blocks, the entries of table that its nibbles choose.
func sums(t *table, codes []byte, out []uint16) {
	if len(out) == 0 {
		return
	}
	blocks := len(out) / perBlock
	_ = codes[blocks*blockBytes(t.width)-1]
	switch cpu.Current() {
	case cpu.AVX512:
		sums512(&t.entries[0], &codes[0], t.width/quadDims, blocks, &out[0])
	case cpu.AVX2:
		sums256(&t.entries[0], &codes[0], t.width/quadDims, blocks, &out[0])
	default:
		sumsGo(t, codes, out)
	}
}

func sumsGo(t *table, codes []byte, out []uint16) {
	pairs := t.byByte()
	for ; len(out) > 0; out = out[perBlock:] {
		var acc [perBlock]uint16
		for pair := range pairs {
			entries := &pairs[pair]
			for i, b := range codes[pair*perBlock:][:perBlock] {
				acc[i] += entries[b]
			}
		}
		copy(out, acc[:])
		codes = codes[blockBytes(t.width):]
	}
}

// bar is what the estimate of a code is held against: factor · (step·sum + shift) ≥ least.
type bar struct{ step, shift, least float32 }

// reach sets bit i of mask[b] where code i of block b reaches the bar.
func reach(sums []uint16, factors []byte, at bar, mask []uint32) {
	if len(mask) == 0 {
		return
	}
	_, _ = sums[len(mask)*perBlock-1], factors[4*len(mask)*perBlock-1]
	if cpu.Current() >= cpu.AVX2 {
		reach256(&sums[0], &factors[0], len(mask), &at, &mask[0])
		return
	}
	reachGo(sums, factors, at, mask)
}

// reachGo rounds after every operation, as vector instructions do, so that all paths decide alike.
func reachGo(sums []uint16, factors []byte, at bar, mask []uint32) {
	for b := range mask {
		var m uint32
		for i, s := range sums[b*perBlock:][:perBlock] {
			inner := float32(at.step*float32(s)) + at.shift
			factor := math.Float32frombits(le32(factors, b*perBlock+i))
			if float32(factor*inner) >= at.least {
				m |= 1 << i
			}
		}
		mask[b] = m
	}
}

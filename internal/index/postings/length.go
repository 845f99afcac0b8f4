package postings

import "math/bits"

// Lengths are rounded to one byte as Lucene's SmallFloat.intToByte4 does, so that scores can be compared number by
// number.
const (
	maxInt4 = 231
	exact   = 255 - maxInt4 // lengths below are kept as they are
)

// LengthByte returns the byte of a length, which is rounded down to the nearest of 256 values.
func LengthByte(n int) byte {
	if n < exact {
		return byte(n)
	}
	v := uint64(n - exact)
	width := bits.Len64(v)
	if width < 4 {
		return byte(exact + int(v))
	}
	shift := width - 4
	return byte(exact + (int(v>>shift)&7 | (shift+1)<<3))
}

// ByteLength returns the length that a byte stands for.
func ByteLength(b byte) int {
	if int(b) < exact {
		return int(b)
	}
	v := int(b) - exact
	shift := v>>3 - 1
	if shift < 0 {
		return exact + v
	}
	return exact + (v&7|8)<<shift
}

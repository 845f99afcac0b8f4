package vector

import "math"

// Rotation is a fixed pseudo-random rotation: three rounds of random signs, Walsh-Hadamard on blocks, and a permutation
// (three rounds as in Andoni et al., "Practical and optimal LSH for angular distance", 2015; the permutation carries
// values from block to block). It spreads every vector evenly over the dimensions, so that one scale per row loses
// little. A seed determines it for ever, since files hold rotated rows. Safe for concurrent use.
type Rotation struct {
	dim   int // of the vectors given
	width int // of rows: dim rounded up to a multiple of unit, the rest is zero before rotation
	block int // of the Hadamard transform
	sign  [3][]float32
	perm  [3][]int32
}

// unit is what row widths are a multiple of: the kernels take this many dimensions per step.
const unit = 64

// NewRotation returns the rotation of vectors of dim dimensions that seed determines.
func NewRotation(dim int, seed uint64) *Rotation {
	r := &Rotation{dim: dim, width: (dim + unit - 1) / unit * unit, block: unit}
	if r.width%(2*unit) == 0 {
		r.block = 2 * unit
	}
	rng := splitMix(seed)
	for k := range r.sign {
		r.sign[k], r.perm[k] = make([]float32, r.width), make([]int32, r.width)
		unitary := float32(1 / math.Sqrt(float64(r.block)))
		for i := range r.sign[k] {
			r.sign[k][i] = unitary
			if rng.next()>>63 == 1 {
				r.sign[k][i] = -unitary
			}
			r.perm[k][i] = int32(i)
		}
		for i := r.width - 1; i > 0; i-- {
			j := int(rng.next() % uint64(i+1)) // the bias of the remainder is below 1e-15
			r.perm[k][i], r.perm[k][j] = r.perm[k][j], r.perm[k][i]
		}
	}
	return r
}

// Dim returns the number of dimensions of the vectors given.
func (r *Rotation) Dim() int { return r.dim }

// Width returns the number of dimensions of rotated rows.
func (r *Rotation) Width() int { return r.width }

// apply rotates x, Width values of which those past Dim are 0, in place; tmp has the same length.
func (r *Rotation) apply(x, tmp []float32) {
	for k := range r.sign {
		for i, s := range r.sign[k] {
			x[i] *= s
		}
		for o := 0; o < len(x); o += r.block {
			hadamard(x[o : o+r.block])
		}
		for i, p := range r.perm[k] {
			tmp[p] = x[i]
		}
		copy(x, tmp)
	}
}

// hadamard applies the fast Walsh-Hadamard transform, unscaled, to x in place; len(x) is a power of two from 4 on. The first two steps
// are made together.
func hadamard(x []float32) {
	for i := 0; i+4 <= len(x); i += 4 {
		y := (*[4]float32)(x[i:])
		a, b, c, d := y[0]+y[1], y[0]-y[1], y[2]+y[3], y[2]-y[3]
		y[0], y[1], y[2], y[3] = a+c, b+d, a-c, b-d
	}
	for h := 4; h < len(x); h <<= 1 {
		for i := 0; i < len(x); i += h << 1 {
			lo, hi := x[i:i+h], x[i+h:i+2*h]
			for j, a := range lo {
				b := hi[j]
				lo[j], hi[j] = a+b, a-b
			}
		}
	}
}

// splitMix is the generator SplitMix64 (Steele, Lea and Flood, 2014); our own, since its numbers are part of the file
// format.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

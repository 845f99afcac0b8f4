package vector

import "encoding/binary"

// Vector returns row i as it was before the rotation, of unit length up to rounding.
func (r *Rows) Vector(i int) []float32 {
	w := r.Rotation.width
	x, tmp := make([]float32, w), make([]float32, w)
	scale, lo := r.scale(i), r.low(i, new([]byte))
	for j := range x {
		level := int32(binary.BigEndian.Uint16([]byte{r.Planes.Hi[i*w+j], lo[j]})) - 32768
		x[j] = float32(scale * float64(level))
	}
	r.Rotation.undo(x, tmp)
	return x[:r.Rotation.dim]
}

// undo inverts apply: the same rounds, backwards. A Hadamard block is its own inverse up to the factor that the
// signs carry.
func (r *Rotation) undo(x, tmp []float32) {
	for k := len(r.sign) - 1; k >= 0; k-- {
		for i, p := range r.perm[k] {
			tmp[i] = x[p]
		}
		copy(x, tmp)
		for o := 0; o < len(x); o += r.block {
			hadamard(x[o : o+r.block])
		}
		for i, s := range r.sign[k] {
			x[i] *= s
		}
	}
}

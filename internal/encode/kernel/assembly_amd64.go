package kernel

import (
	"unsafe"

	"quarry/internal/cpu"
)

// gemmF32 holds the arguments of an fp32 micro-kernel; strides are in values.
type gemmF32 struct {
	k        int
	a, b     *float32
	c, bias  *float32
	lda      int
	ldb, ldc int
}

// gemmI8 holds the arguments that the calls for an int8 product have in common.
type gemmI8 struct {
	w      *MatI8
	a      *Levels
	out    []float32
	stride int
}

// Assembly is called through switches: through a function value the compiler could not see that pointers do not escape, and
// would allocate.

func sgemm(p cpu.Path, rows int, g gemmF32) {
	if p == cpu.AVX512 {
		sgemm512(rows, g.k, g.a, g.lda*4, g.b, g.ldb*4, g.c, g.ldc*4, g.bias)
		return
	}
	const half = panel / 2 * unsafe.Sizeof(float32(0)) // the tile is 16 outputs wide
	for o := uintptr(0); o <= half; o += half {
		sgemm256(rows, g.k, g.a, g.lda*4, past(g.b, o), g.ldb*4, past(g.c, o), g.ldc*4, past(g.bias, o))
	}
}

func past(x *float32, bytes uintptr) *float32 {
	return (*float32)(unsafe.Add(unsafe.Pointer(x), bytes))
}

// qgemm computes rows rows, from row i on, of the 32 outputs from o on.
func qgemm(p cpu.Path, rows, i, o int, g gemmI8) {
	w, a := g.w, g.a
	if p == cpu.AVX512 {
		qgemm512(rows, w.K/4, &a.q[i*w.K], w.K, &w.Panels[o*w.K], &g.out[i*g.stride+o], g.stride*4, &w.Scale[o], &w.Sum[o], &w.Bias[o], &a.scale[i], &a.zero[i])
		return
	}
	qgemm256(rows, w.K/4, &a.wide[i*w.K], w.K*2, &w.Panels[o*w.K], &g.out[i*g.stride+o], g.stride*4, &w.Scale[o], &w.Sum[o], &w.Bias[o], &a.scale[i], &a.zero[i])
}

// widen sets the first rows rows of wide.
func (l *Levels) widen(rows int) {
	if l.wide == nil {
		l.wide = make([]uint16, len(l.q))
	}
	widen16(&l.q[0], &l.wide[0], rows*l.K/16)
}

func quantRow(p cpu.Path, x []float32, q []uint8, scale, zero *float32) {
	if p == cpu.AVX512 {
		quantRow512(&x[0], len(x)/16, &q[0], scale, zero)
		return
	}
	quantRow256(&x[0], len(x)/16, &q[0], scale, zero)
}

func geluQuant(p cpu.Path, x []float32, q []uint8, scale, zero *float32) {
	if p == cpu.AVX512 {
		geluQuant512(&x[0], len(x)/16, &q[0], scale, zero)
		return
	}
	geluQuant256(&x[0], len(x)/16, &q[0], scale, zero)
}

func geluVec(p cpu.Path, x []float32) {
	if p == cpu.AVX512 {
		gelu512(&x[0], len(x)/16)
		return
	}
	gelu256(&x[0], len(x)/16)
}

func addNorm(p cpu.Path, n *Norm, x, r, out []float32) {
	if p == cpu.AVX512 {
		addNorm512(&x[0], &r[0], &n.Gain[0], &n.Shift[0], &out[0], len(x)/16, 1/float32(len(x)), n.Eps)
		return
	}
	addNorm256(&x[0], &r[0], &n.Gain[0], &n.Shift[0], &out[0], len(x)/16, 1/float32(len(x)), n.Eps)
}

// softmax replaces rows rows of n scores by their softmax. Rows are ld values apart; the values after n become 0 up to the
// next full vector.
func softmax(p cpu.Path, scores []float32, rows, n, ld int) {
	if p == cpu.AVX512 {
		softmax512(&scores[0], rows, n, ld*4)
		return
	}
	softmax256(&scores[0], rows, n, ld*4)
}

// transpose writes the keys of h by column; columns are np values apart.
func transpose(p cpu.Path, h *Head, keys []float32, np int) {
	if p == cpu.AVX512 {
		for i := 0; i < h.Tokens; i += 16 {
			for j := 0; j < h.Dim; j += 16 {
				transpose512(&h.K[i*h.Stride+j], h.Stride*4, &keys[j*np+i], np*4)
			}
		}
		return
	}
	for i := 0; i < h.Tokens; i += 8 {
		for j := 0; j < h.Dim; j += 8 {
			transpose256(&h.K[i*h.Stride+j], h.Stride*4, &keys[j*np+i], np*4)
		}
	}
}

package kernel

import (
	"math"

	"quarry/internal/cpu"
)

// MatF32 is a weight matrix of N outputs and K inputs, packed in panels of 32 columns, input by input.
type MatF32 struct {
	N, K   int
	Panels []float32 // N/32 panels of K·32
	Bias   []float32 // N
}

// PackF32 packs w, which holds len(bias) rows of k inputs; the number of rows is a multiple of 32.
func PackF32(w []float32, k int, bias []float32) *MatF32 {
	n := len(bias)
	m := &MatF32{N: n, K: k, Panels: make([]float32, n*k), Bias: append([]float32(nil), bias...)}
	for c := range n {
		dst := m.Panels[c/panel*panel*k+c%panel:]
		for i, v := range w[c*k : (c+1)*k] {
			dst[i*panel] = v
		}
	}
	return m
}

// Mul writes a·Wᵀ + bias for rows rows. Rows of a are K values apart, those of out stride values.
func (w *MatF32) Mul(rows int, a, out []float32, stride int) {
	p := cpu.Current()
	if p == cpu.Portable {
		w.mulPortable(rows, a, out, stride)
		return
	}
	block := rowBlock(rows, maxRows(p))
	for o := 0; o < w.N; o += panel {
		for i := 0; i < rows; i += block {
			sgemm(p, min(block, rows-i), gemmF32{
				k: w.K, a: &a[i*w.K], lda: w.K, b: &w.Panels[o*w.K], ldb: panel, c: &out[i*stride+o], ldc: stride, bias: &w.Bias[o],
			})
		}
	}
}

// MatI8 is a weight matrix of N outputs and K inputs in symmetric int8, one scale per output. Panels is in the order
// that VPDPBUSD consumes: panel of 32 outputs, group of 4 inputs, output, input. It is the same for every CPU, so
// that one file serves all.
type MatI8 struct {
	N, K   int
	Panels []int8
	Scale  []float32 // per output
	Sum    []float32 // Scale · Σ weights of the output, by which the activations' zero point is subtracted
	Bias   []float32
}

// PackI8 quantises and packs w, which holds len(bias) rows of k inputs; the number of rows is a multiple of 32, k of 64.
func PackI8(w []float32, k int, bias []float32) *MatI8 {
	n := len(bias)
	m := &MatI8{N: n, K: k, Panels: make([]int8, n*k), Scale: make([]float32, n), Sum: make([]float32, n), Bias: append([]float32(nil), bias...)}
	for c := range n {
		row := w[c*k : (c+1)*k]
		s := absMax(row) / 127
		var sum int32
		for i, v := range row {
			q := int32(math.RoundToEven(float64(v / s)))
			sum += q
			m.Panels[m.at(c, i)] = int8(q)
		}
		m.Scale[c], m.Sum[c] = s, s*float32(sum)
	}
	return m
}

// at returns the index in Panels of output c's weight for input i.
func (w *MatI8) at(c, i int) int {
	return c/panel*panel*w.K + i/4*4*panel + c%panel*4 + i%4
}

// PackTable quantises an embedding table of k columns, with a scale per row.
func PackTable(w []float32, k int) (q []int8, scale []float32) {
	q, scale = make([]int8, len(w)), make([]float32, len(w)/k)
	for r := range scale {
		row := w[r*k : (r+1)*k]
		s := absMax(row) / 127
		scale[r] = s
		for i, v := range row {
			q[r*k+i] = int8(math.RoundToEven(float64(v / s)))
		}
	}
	return q, scale
}

func absMax(x []float32) float32 {
	m := float32(1e-12)
	for _, v := range x {
		m = max(m, v, -v)
	}
	return m
}

// Levels holds rows of activations that are quantised to uint8 dynamically, each with its own scale and zero point: value j
// of row i is scale[i]·(q[i·K+j] − zero[i]). It is not safe for concurrent use.
type Levels struct {
	K           int // values per row; a multiple of 64
	q           []uint8
	wide        []uint16             // the same as q, for kernels that multiply 16-bit values
	words       [][stripWords]uint64 // weights of one strip, for the portable product
	total       []int32              // Σ q of each row, for the portable product
	scale, zero []float32
}

// NewLevels returns Levels with room for rows rows of up to k values.
func NewLevels(rows, k int) *Levels {
	return &Levels{K: k, q: make([]uint8, rows*k), scale: make([]float32, rows), zero: make([]float32, rows)}
}

// Reset sets the number of values per row, which must not exceed that of NewLevels.
func (l *Levels) Reset(k int) { l.K = k }

// Quantise stores x as row i with its own scale and zero point. The range always contains 0.
func (l *Levels) Quantise(i int, x []float32) {
	q := l.q[i*l.K : (i+1)*l.K]
	switch p := cpu.Current(); p {
	case cpu.Portable:
		l.scale[i], l.zero[i] = quantPortable(x[:l.K], q)
	default:
		quantRow(p, x[:l.K], q, &l.scale[i], &l.zero[i])
	}
}

// QuantiseGelu applies GELU to x in place and stores the result as row i.
func (l *Levels) QuantiseGelu(i int, x []float32) {
	q := l.q[i*l.K : (i+1)*l.K]
	switch p := cpu.Current(); p {
	case cpu.Portable:
		geluPortable(x[:l.K])
		l.scale[i], l.zero[i] = quantPortable(x[:l.K], q)
	default:
		geluQuant(p, x[:l.K], q, &l.scale[i], &l.zero[i])
	}
}

// Row returns the levels, scale and zero point of row i.
func (l *Levels) Row(i int) (q []uint8, scale, zero float32) {
	return l.q[i*l.K : (i+1)*l.K], l.scale[i], l.zero[i]
}

// Mul writes a·Wᵀ + bias for the first rows rows of a. Rows of out are stride values apart. a.K must be w.K.
func (w *MatI8) Mul(rows int, a *Levels, out []float32, stride int) {
	p := cpu.Current()
	switch p {
	case cpu.Portable:
		w.mulPortable(rows, a, out, stride)
		return
	case cpu.AVX2:
		a.widen(rows)
	}
	block := rowBlock(rows, maxRows(p))
	for o := 0; o < w.N; o += panel {
		for i := 0; i < rows; i += block {
			qgemm(p, min(block, rows-i), i, o, gemmI8{w: w, a: a, out: out, stride: stride})
		}
	}
}

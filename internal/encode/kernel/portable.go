package kernel

import (
	"math"
	"slices"
)

// The portable int8 product computes three products with one 64-bit multiplication: a word holds the weights of three
// outputs in fields of 21 bits, so that level · word holds three products, and a sum of words holds three sums. 128 is
// added to weights to keep every field positive, and subtracted at the end. A field has room for the sum of 32 products,
// each at most 255 · 255.
const (
	fieldBits   = 21
	fieldMask   = 1<<fieldBits - 1
	wordOutputs = 3
	stripWords  = 4 // words per level: as many as have their sums in registers
	strip       = stripWords * wordOutputs
	fieldRoom   = 32 // levels until a field is full
)

func (w *MatI8) mulPortable(rows int, a *Levels, out []float32, stride int) {
	if len(a.words) < w.K {
		a.words = make([][stripWords]uint64, w.K)
	}
	a.addUp(rows)
	words := a.words[:w.K]
	for c := 0; c < w.N; c += strip {
		n := min(strip, w.N-c)
		w.spread(c, n, words)
		for i := range rows {
			q, scale, zero := a.Row(i)
			var sums [strip]int32
			dotStrip(q, words, &sums)
			shift := 128 * a.total[i]
			o := out[i*stride+c : i*stride+c+n]
			for j := range o {
				o[j] = fma(fma(-zero, w.Sum[c+j], float32(sums[j]-shift)*w.Scale[c+j]), scale, w.Bias[c+j])
			}
		}
	}
}

// addUp sets total for the first rows rows.
func (l *Levels) addUp(rows int) {
	if l.total == nil {
		l.total = make([]int32, len(l.scale))
	}
	for i := range rows {
		q, _, _ := l.Row(i)
		l.total[i] = 0
		for _, v := range q {
			l.total[i] += int32(v)
		}
	}
}

// spread writes the weights of n outputs from c on, plus 128, into the fields of words. Other fields are not changed.
func (w *MatI8) spread(c, n int, words [][stripWords]uint64) {
	for j := 0; j < n; j += wordOutputs {
		p0 := w.Panels[w.at(c+j, 0):]
		p1, p2 := p0, p0
		if j+2 < n {
			p1, p2 = w.Panels[w.at(c+j+1, 0):], w.Panels[w.at(c+j+2, 0):]
		} else if j+1 < n {
			p1 = w.Panels[w.at(c+j+1, 0):]
		}
		for k := 0; k+4 <= len(words); k += 4 {
			a, b, d := (*[4]int8)(p0[k*panel:]), (*[4]int8)(p1[k*panel:]), (*[4]int8)(p2[k*panel:])
			to := (*[4][stripWords]uint64)(words[k:])
			for l := range to {
				to[l][j/wordOutputs] = uint64(int(a[l])+128) | uint64(int(b[l])+128)<<fieldBits | uint64(int(d[l])+128)<<(2*fieldBits)
			}
		}
	}
}

// dotStrip adds the products of q with every output of words to sums.
func dotStrip(q []uint8, words [][stripWords]uint64, sums *[strip]int32) {
	for len(q) >= fieldRoom && len(words) >= fieldRoom {
		s0, s1, s2, s3 := dotFields((*[fieldRoom]uint8)(q), (*[fieldRoom][stripWords]uint64)(words))
		sums[0] += int32(s0 & fieldMask)
		sums[1] += int32(s0 >> fieldBits & fieldMask)
		sums[2] += int32(s0 >> (2 * fieldBits))
		sums[3] += int32(s1 & fieldMask)
		sums[4] += int32(s1 >> fieldBits & fieldMask)
		sums[5] += int32(s1 >> (2 * fieldBits))
		sums[6] += int32(s2 & fieldMask)
		sums[7] += int32(s2 >> fieldBits & fieldMask)
		sums[8] += int32(s2 >> (2 * fieldBits))
		sums[9] += int32(s3 & fieldMask)
		sums[10] += int32(s3 >> fieldBits & fieldMask)
		sums[11] += int32(s3 >> (2 * fieldBits))
		q, words = q[fieldRoom:], words[fieldRoom:]
	}
}

// dotFields is the inner loop, in a function of its own so that the compiler keeps its variables in registers.
//
//go:noinline
func dotFields(q *[fieldRoom]uint8, words *[fieldRoom][stripWords]uint64) (s0, s1, s2, s3 uint64) {
	for k := 0; k < fieldRoom; k += 4 {
		v, w := uint64(q[k]), &words[k]
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
		v, w = uint64(q[k+1]), &words[k+1]
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
		v, w = uint64(q[k+2]), &words[k+2]
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
		v, w = uint64(q[k+3]), &words[k+3]
		s0 += v * w[0]
		s1 += v * w[1]
		s2 += v * w[2]
		s3 += v * w[3]
	}
	return s0, s1, s2, s3
}

func (w *MatF32) mulPortable(rows int, a, out []float32, stride int) {
	for i := range rows {
		x := a[i*w.K : (i+1)*w.K]
		for o := 0; o < w.N; o += panel {
			var acc [panel]float32
			copy(acc[:], w.Bias[o:])
			b := w.Panels[o*w.K:]
			for k, v := range x {
				row := (*[panel]float32)(b[k*panel:])
				for j := range acc {
					acc[j] += v * row[j]
				}
			}
			copy(out[i*stride+o:], acc[:])
		}
	}
}

// The functions below repeat the assembly operation by operation, including fused ones and the order of sums, so that
// vectors are identical on every path (see the package comment).

// lanes is the number of partial sums of the assembly.
const lanes = 16

// fma returns a·b+c, rounded once: the product is exact in float64, and rounding the sum to float64 first nearly never
// changes the result.
func fma(a, b, c float32) float32 { return float32(float64(a)*float64(b) + float64(c)) }

// fold returns the sum of partial sums, added in the order of the assembly.
func fold(s *[lanes]float32) float32 {
	for n := lanes / 2; n > 0; n /= 2 {
		for i := range n {
			s[i] += s[i+n]
		}
	}
	return s[0]
}

func quantPortable(x []float32, q []uint8) (scale, zero float32) {
	var lo, hi float32 // the range always contains 0
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	scale = max((hi-lo)/255, 1e-20)
	inv := 1 / scale
	zero = 0 - roundEven(lo*inv)
	q = q[:len(x)]
	for i, v := range x {
		q[i] = uint8(min(255, roundEven(max(0, fma(v, inv, zero)))))
	}
	return scale, zero
}

// roundEven returns x rounded to the nearest integer, halves to even; |x| must be below 2^22. Adding 1.5·2^23 leaves no bits
// for a fraction. The conversions prevent the compiler from fusing or widening the sums.
func roundEven(x float32) float32 {
	const shift = 3 << 22
	return float32(x+shift) - shift
}

// geluPortable applies GELU (Hendrycks and Gimpel 2016) in place. erf is the rational approximation of
// Eigen and XLA, whose error is below 1e-6.
func geluPortable(x []float32) {
	const limit = 3.925724783138660
	for i, v := range x {
		u := max(-limit, min(limit, v*0.70710678118654752))
		z := u * u
		num := float32(-2.72614225801306e-10)
		num = fma(num, z, 2.77068142495902e-08)
		num = fma(num, z, -2.10102402082508e-06)
		num = fma(num, z, -5.69250639462346e-05)
		num = fma(num, z, -7.34990630326855e-04)
		num = fma(num, z, -2.95459980854025e-03)
		num = fma(num, z, -1.60960333262415e-02)
		den := float32(-1.45660718464996e-05)
		den = fma(den, z, -2.13374055278905e-04)
		den = fma(den, z, -1.68282697438203e-03)
		den = fma(den, z, -7.37332916720468e-03)
		den = fma(den, z, -1.42647390514189e-02)
		h := v * 0.5
		x[i] = fma(float32(num*u)/den, h, h)
	}
}

// exp returns e^x for x up to 88, and e^-87.5 for x below -87.5. Range reduction and polynomial are those of expf in
// Moshier's Cephes library.
func exp(x float32) float32 {
	x = min(max(x, -87.5), 88)
	n := roundEven(x * 1.44269504088896341)
	x = fma(n, -0.693359375, x)
	x = fma(n, 2.12194440e-4, x)
	y := float32(1.9875691500e-4)
	y = fma(y, x, 1.3981999507e-3)
	y = fma(y, x, 8.3334519073e-3)
	y = fma(y, x, 4.1665795894e-2)
	y = fma(y, x, 1.6666665459e-1)
	y = fma(y, x, 5.0000001201e-1)
	y = fma(float32(y*x), x, 1) + x
	return y * math.Float32frombits(uint32(int32(n)+127)<<23)
}

func (n *Norm) addPortable(x, r, out []float32) {
	r, out = r[:len(x)], out[:len(x)]
	gain, shift := n.Gain[:len(x)], n.Shift[:len(x)]
	var sums, squares [lanes]float32
	for i, v := range x {
		s := v + r[i]
		out[i] = s
		sums[i%lanes] += s
	}
	share := 1 / float32(len(x))
	mean := fold(&sums) * share
	for i, v := range out {
		d := v - mean
		squares[i%lanes] = fma(d, d, squares[i%lanes])
	}
	inv := 1 / float32(math.Sqrt(float64(fma(fold(&squares), share, n.Eps))))
	for i, v := range out {
		out[i] = fma(float32((v-mean)*inv), gain[i], shift[i])
	}
}

func (h *Head) attendPortable(out []float32, stride int, s []float32) {
	d, ld, n := h.Dim, h.Stride, h.Tokens
	s = s[:(n+3)/4*4]
	for i := range n {
		q := h.Q[i*ld : i*ld+d]
		for j := 0; j < n; j += 4 { // reads up to three rows past the sequence, whose scores are not used
			dot4(q, h.K[j*ld:], ld, (*[4]float32)(s[j:]))
		}
		softmaxPortable(s[:n])
		o := out[i*stride : i*stride+d]
		for c := 0; c < d; c += 8 {
			weighted8(s[:n], h.V[c:], ld, (*[8]float32)(o[c:]))
		}
	}
}

// dot4 writes the products of q with four rows of k, ld apart.
func dot4(q, k []float32, ld int, out *[4]float32) {
	k0, k1, k2, k3 := k[:len(q)], k[ld:ld+len(q)], k[2*ld:2*ld+len(q)], k[3*ld:3*ld+len(q)]
	var a0, a1, a2, a3 float32
	for c, v := range q {
		w := float64(v)
		a0 = float32(w*float64(k0[c]) + float64(a0))
		a1 = float32(w*float64(k1[c]) + float64(a1))
		a2 = float32(w*float64(k2[c]) + float64(a2))
		a3 = float32(w*float64(k3[c]) + float64(a3))
	}
	*out = [4]float32{a0, a1, a2, a3}
}

// softmaxPortable replaces scores by their softmax.
func softmaxPortable(s []float32) {
	hi := slices.Max(s)
	var sums [lanes]float32
	for j, v := range s {
		e := exp(v - hi)
		s[j] = e
		sums[j%lanes] += e
	}
	share := 1 / fold(&sums)
	for j := range s {
		s[j] *= share
	}
}

// weighted8 writes Σ s[j]·v[j·ld…] of eight columns to out.
func weighted8(s, v []float32, ld int, out *[8]float32) {
	var a0, a1, a2, a3, a4, a5, a6, a7 float32
	for j, weight := range s {
		x, w := (*[8]float32)(v[j*ld:]), float64(weight)
		a0 = float32(w*float64(x[0]) + float64(a0))
		a1 = float32(w*float64(x[1]) + float64(a1))
		a2 = float32(w*float64(x[2]) + float64(a2))
		a3 = float32(w*float64(x[3]) + float64(a3))
		a4 = float32(w*float64(x[4]) + float64(a4))
		a5 = float32(w*float64(x[5]) + float64(a5))
		a6 = float32(w*float64(x[6]) + float64(a6))
		a7 = float32(w*float64(x[7]) + float64(a7))
	}
	*out = [8]float32{a0, a1, a2, a3, a4, a5, a6, a7}
}

package kernel

import "math"

// The portable int8 product computes three products with one 64-bit multiplication: a word holds the weights of three
// outputs in fields of 21 bits, so that level · word holds three products and sums of words hold three sums. Weights
// are shifted by 128 to keep every field positive, which is taken out at the end. 32 products of 255 · 255 at the most
// fit a field.
const (
	fieldBits   = 21
	fieldMask   = 1<<fieldBits - 1
	wordOutputs = 3
	stripWords  = 4 // words per level: as many sums as stay in registers
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
				o[j] = scale*(float32(sums[j]-shift)*w.Scale[c+j]-zero*w.Sum[c+j]) + w.Bias[c+j]
			}
		}
	}
}

// addUp fills total for the first rows rows.
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

// spread writes the weights of n outputs from c on, shifted, into the fields of words; further fields stay as they are.
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

// dotFields is the inner loop, alone in a function so that everything in it stays in registers.
//
//go:noinline
func dotFields(q *[fieldRoom]uint8, words *[fieldRoom][stripWords]uint64) (s0, s1, s2, s3 uint64) {
	for k := 0; k < fieldRoom; k += 2 {
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

func quantPortable(x []float32, q []uint8) (scale, zero float32) {
	var lo, hi float32 // the range always contains 0
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	scale = max((hi-lo)/255, 1e-20)
	inv := 1 / scale
	zero = -roundEven(lo * inv)
	q = q[:len(x)]
	for i, v := range x {
		q[i] = uint8(min(255, max(0, roundEven(v*inv+zero))))
	}
	return scale, zero
}

// roundEven rounds to the nearest integer, halves to even; |x| is below 2^22. Adding 1.5·2^23 leaves no bits for a
// fraction; the conversions keep the compiler from fusing or widening the sums.
func roundEven(x float32) float32 {
	const shift = 3 << 22
	return float32(x+shift) - shift
}

// geluPortable uses the rational form of erf that the assembly uses, whose error is below 1e-6.
func geluPortable(x []float32) {
	const limit = 3.925724783138660
	for i, v := range x {
		u := min(limit, max(-limit, v*0.70710678118654752))
		z := u * u
		num := float32(-2.72614225801306e-10)
		num = num*z + 2.77068142495902e-08
		num = num*z - 2.10102402082508e-06
		num = num*z - 5.69250639462346e-05
		num = num*z - 7.34990630326855e-04
		num = num*z - 2.95459980854025e-03
		num = num*z - 1.60960333262415e-02
		den := float32(-1.45660718464996e-05)
		den = den*z - 2.13374055278905e-04
		den = den*z - 1.68282697438203e-03
		den = den*z - 7.37332916720468e-03
		den = den*z - 1.42647390514189e-02
		h := v * 0.5
		x[i] = h*(num*u/den) + h
	}
}

// exp is e^x for x in -87 to 0, by the reduction and the polynomial of the assembly.
func exp(x float32) float32 {
	x = max(x, -87)
	n := roundEven(x * 1.44269504088896341)
	x -= n * 0.693359375
	x += n * 2.12194440e-4
	y := float32(1.9875691500e-4)
	y = y*x + 1.3981999507e-3
	y = y*x + 8.3334519073e-3
	y = y*x + 4.1665795894e-2
	y = y*x + 1.6666665459e-1
	y = y*x + 5.0000001201e-1
	y = y*x*x + x + 1
	return y * math.Float32frombits(uint32(int32(n)+127)<<23)
}

func (n *Norm) addPortable(x, r, out []float32) {
	r, out = r[:len(x)], out[:len(x)]
	gain, shift := n.Gain[:len(x)], n.Shift[:len(x)]
	var mean, variance float64
	for i, v := range x {
		s := v + r[i]
		out[i] = s
		mean += float64(s)
	}
	mean /= float64(len(x))
	for _, v := range out {
		d := float64(v) - mean
		variance += d * d
	}
	inv := float32(1 / math.Sqrt(variance/float64(len(x))+float64(n.Eps)))
	for i, v := range out {
		out[i] = (v-float32(mean))*inv*gain[i] + shift[i]
	}
}

func (h *Head) attendPortable(out []float32, stride int, s []float32) {
	d, ld := h.Dim, h.Stride
	s = s[:h.Tokens]
	for i := range h.Tokens {
		q := h.Q[i*ld : i*ld+d]
		hi := float32(math.Inf(-1))
		for j := range s {
			s[j] = Dot(q, h.K[j*ld:j*ld+d])
			hi = max(hi, s[j])
		}
		var sum float32
		for j, v := range s {
			s[j] = exp(v - hi)
			sum += s[j]
		}
		o := out[i*stride : i*stride+d]
		for c := 0; c < d; c += 8 {
			weighted8(s, h.V[c:], ld, 1/sum, o[c:c+8])
		}
	}
}

// weighted8 writes scale·Σ s[j]·v[j·ld…] of eight columns to out.
func weighted8(s, v []float32, ld int, scale float32, out []float32) {
	var a0, a1, a2, a3, a4, a5, a6, a7 float32
	for j, w := range s {
		x := (*[8]float32)(v[j*ld:])
		a0 += w * x[0]
		a1 += w * x[1]
		a2 += w * x[2]
		a3 += w * x[3]
		a4 += w * x[4]
		a5 += w * x[5]
		a6 += w * x[6]
		a7 += w * x[7]
	}
	*(*[8]float32)(out) = [8]float32{a0 * scale, a1 * scale, a2 * scale, a3 * scale, a4 * scale, a5 * scale, a6 * scale, a7 * scale}
}

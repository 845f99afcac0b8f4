package kernel

import "math"

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

func (w *MatI8) mulPortable(rows int, a *Levels, out []float32, stride int) {
	for i := range rows {
		x, s, z := a.Row(i)
		for o := 0; o < w.N; o += panel {
			var acc [panel]int32
			b := w.Panels[o*w.K:]
			for k := 0; k < w.K; k += 4 {
				x0, x1, x2, x3 := int32(x[k]), int32(x[k+1]), int32(x[k+2]), int32(x[k+3])
				row := b[k*panel : k*panel+4*panel]
				for j := range acc {
					r := row[4*j : 4*j+4]
					acc[j] += x0*int32(r[0]) + x1*int32(r[1]) + x2*int32(r[2]) + x3*int32(r[3])
				}
			}
			for j, v := range acc {
				out[i*stride+o+j] = s*(float32(v)*w.Scale[o+j]-z*w.Sum[o+j]) + w.Bias[o+j]
			}
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
	zero = float32(-math.RoundToEven(float64(lo * inv)))
	for i, v := range x {
		q[i] = uint8(min(255, max(0, math.RoundToEven(float64(v*inv+zero)))))
	}
	return scale, zero
}

func geluPortable(x []float32) {
	for i, v := range x {
		x[i] = float32(0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2)))
	}
}

func (n *Norm) addPortable(x, r, out []float32) {
	var mean, variance float64
	for i, v := range x {
		out[i] = v + r[i]
		mean += float64(out[i])
	}
	mean /= float64(len(x))
	for _, v := range out[:len(x)] {
		variance += (float64(v) - mean) * (float64(v) - mean)
	}
	inv := 1 / math.Sqrt(variance/float64(len(x))+float64(n.Eps))
	for i, v := range out[:len(x)] {
		out[i] = float32((float64(v)-mean)*inv)*n.Gain[i] + n.Shift[i]
	}
}

func (h *Head) attendPortable(out []float32, stride int, s []float32) {
	n, d, ld := h.Tokens, h.Dim, h.Stride
	for i := range n {
		hi := float32(math.Inf(-1))
		for j := range n {
			s[j] = Dot(h.Q[i*ld:i*ld+d], h.K[j*ld:j*ld+d])
			hi = max(hi, s[j])
		}
		var sum float32
		for j := range n {
			s[j] = float32(math.Exp(float64(s[j] - hi)))
			sum += s[j]
		}
		o := out[i*stride : i*stride+d]
		clear(o)
		for j := range n {
			w := s[j] / sum
			for c, v := range h.V[j*ld : j*ld+d] {
				o[c] += w * v
			}
		}
	}
}

package kernel_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"quarry/internal/cpu"
	"quarry/internal/encode/kernel"
)

// The tests of this package do not run in parallel: the path under test is a setting of the whole process.

func random(seed uint64, n int, scale float64) []float32 {
	rng, x := rand.New(rand.NewPCG(seed, 1)), make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64() * scale)
	}
	return x
}

// everyPath runs f on each path that this CPU has.
func everyPath(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Cleanup(func() { use(t, "auto") })
	for _, p := range cpu.Available() {
		use(t, p.String())
		t.Run(p.String(), f)
	}
}

func use(t testing.TB, name string) {
	t.Helper()
	if err := cpu.Use(name); err != nil {
		t.Fatal(err)
	}
}

// tileRows are row counts around the tile heights of all paths.
var tileRows = []int{1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 29, 128}

// product is the float64 product that the kernels are held to.
func product(rows, k int, a, w, bias []float32) []float64 {
	n := len(bias)
	c := make([]float64, rows*n)
	for i := range rows {
		for j := range n {
			s := float64(bias[j])
			for l := range k {
				s += float64(a[i*k+l]) * float64(w[j*k+l])
			}
			c[i*n+j] = s
		}
	}
	return c
}

func maxDiff(got []float32, want []float64) float64 {
	d := 0.0
	for i := range want {
		d = math.Max(d, math.Abs(float64(got[i])-want[i]))
	}
	return d
}

// TestMatF32 proves the fp32 product against float64 for row counts around the tile heights, with a tail of inputs.
func TestMatF32(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		for _, rows := range tileRows {
			const n, k = 96, 387
			a, w, bias, c := random(1, rows*k, 1), random(2, n*k, .05), random(3, n, 1), make([]float32, rows*n)
			kernel.PackF32(w, k, bias).Mul(rows, a, c, n)
			if d := maxDiff(c, product(rows, k, a, w, bias)); d > 1e-4 {
				t.Errorf("%d rows: off by %g", rows, d)
			}
		}
	})
}

// unpack gives the weights that m stands for and the values that the first rows rows of l stand for.
func unpack(rows int, l *kernel.Levels, m *kernel.MatI8) (a, w []float32) {
	for i := range rows {
		q, scale, zero := l.Row(i)
		for _, v := range q {
			a = append(a, scale*(float32(v)-zero))
		}
	}
	for c := range m.N {
		for i := range m.K {
			w = append(w, m.Scale[c]*float32(m.Panels[c/32*32*m.K+i/4*128+c%32*4+i%4]))
		}
	}
	return a, w
}

// TestMatI8 proves that the int8 product is that of the quantised operands: no rounding beyond quantisation.
func TestMatI8(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		for _, rows := range tileRows {
			for _, k := range []int{64, 384, 1536} {
				const n = 96
				x, bias, c := random(1, rows*k, 1), random(3, n, 1), make([]float32, rows*n)
				l, m := kernel.NewLevels(rows, 1536), kernel.PackI8(random(2, n*k, .05), k, bias)
				l.Reset(k)
				for i := range rows {
					l.Quantise(i, x[i*k:(i+1)*k])
				}
				m.Mul(rows, l, c, n)
				a, w := unpack(rows, l, m)
				if d := maxDiff(c, product(rows, k, a, w, bias)); d > 1e-3 {
					t.Errorf("%d rows of %d: off by %g", rows, k, d)
				}
			}
		}
	})
}

// TestMatI8Extremes proves that extreme levels do not saturate: 255 × ±127 over the longest row, where partial sums are
// largest.
func TestMatI8Extremes(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		const n, k = 32, 1536
		w, x := make([]float32, n*k), make([]float32, k)
		for i := range w {
			w[i] = 127
			if i/k%2 == 1 {
				w[i] = -127
			}
		}
		for i := range x {
			x[i] = 255
		}
		l, m, c := kernel.NewLevels(1, k), kernel.PackI8(w, k, make([]float32, n)), make([]float32, n)
		l.Quantise(0, x)
		m.Mul(1, l, c, n)
		for j, got := range c {
			want := float64(255 * 127 * k)
			if j%2 == 1 {
				want = -want
			}
			if math.Abs(float64(got)-want) > 1e-6*math.Abs(want) {
				t.Errorf("output %d is %g, want %g", j, got, want)
			}
		}
	})
}

// TestSameOnEveryPath proves that every path gives the same values bit by bit: a last bit that differs flips a
// quantised level, and flips grow from layer to layer.
func TestSameOnEveryPath(t *testing.T) {
	const rows, n, k = 13, 64, 384
	x, r, m := random(1, rows*k, 2), random(2, rows*k, 1), kernel.PackI8(random(3, n*k, .05), k, random(4, n, 1))
	norm := kernel.Norm{Gain: random(5, k, 1), Shift: random(6, k, 1), Eps: 1e-12}
	const tokens, d, ld = 45, 64, 192
	qkv := random(7, (tokens+16)*ld, 1)
	first := map[string][]float32{}
	everyPath(t, func(t *testing.T) {
		got := map[string][]float32{"product": make([]float32, rows*n), "gelu": slices.Clone(x), "norm": slices.Clone(x), "attention": make([]float32, tokens*d)}
		l := kernel.NewLevels(rows, k)
		for i := range rows {
			l.Quantise(i, x[i*k:(i+1)*k])
			norm.Add(got["norm"][i*k:(i+1)*k], r[i*k:(i+1)*k], got["norm"][i*k:(i+1)*k])
		}
		m.Mul(rows, l, got["product"], n)
		kernel.Gelu(got["gelu"])
		head := kernel.Head{Q: qkv, K: qkv[d:], V: qkv[2*d:], Tokens: tokens, Dim: d, Stride: ld}
		head.Attend(got["attention"], d, kernel.NewAttentionBuffer(tokens, d))
		for name, v := range got {
			if first[name] == nil {
				first[name] = v
				continue
			}
			for i, want := range first[name] {
				if v[i] != want {
					t.Errorf("%s: value %d is %g, on the first path %g", name, i, v[i], want)
					break
				}
			}
		}
	})
}

// TestQuantise proves that quantisation keeps every value within half a step: tiny, huge, constant and one-sided rows
// included.
func TestQuantise(t *testing.T) {
	outlier, positive := random(4, 384, .01), random(5, 384, 1)
	outlier[17] = 80
	for i, v := range positive {
		positive[i] = v*v + 3
	}
	rows := [][]float32{random(1, 384, 1), random(2, 384, 1e-6), make([]float32, 384), random(3, 384, 1e4), outlier, positive}
	everyPath(t, func(t *testing.T) {
		for r, x := range rows {
			l := kernel.NewLevels(1, len(x))
			l.Quantise(0, x)
			q, scale, zero := l.Row(0)
			for i, v := range x {
				if d := math.Abs(float64(v) - float64(scale)*(float64(q[i])-float64(zero))); d > 0.505*float64(scale) {
					t.Fatalf("row %d: value %g off by %g, step %g", r, v, d, scale)
				}
			}
		}
	})
}

// TestGelu proves GELU against the error function of the standard library over the range where it bends, and that the
// fused form quantises the same values.
func TestGelu(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		x := make([]float32, 1600)
		for i := range x {
			x[i] = float32(i-800) / 100
		}
		y := slices.Clone(x)
		kernel.Gelu(y)
		for i, v := range x {
			want := 0.5 * float64(v) * (1 + math.Erf(float64(v)/math.Sqrt2))
			if math.Abs(want-float64(y[i])) > 1e-5 {
				t.Fatalf("gelu(%g) = %g, want %g", v, y[i], want)
			}
		}
		l := kernel.NewLevels(1, 1600)
		l.QuantiseGelu(0, slices.Clone(x))
		q, scale, zero := l.Row(0)
		for i, v := range y {
			if d := math.Abs(float64(v) - float64(scale)*(float64(q[i])-float64(zero))); d > 0.51*float64(scale) {
				t.Fatalf("quantised gelu(%g) off by %g, step %g", x[i], d, scale)
			}
		}
	})
}

// TestNorm proves the normalised sum against float64, in place and for rows of small spread about a large mean.
func TestNorm(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		for _, h := range []int{16, 64, 384} {
			a, r := random(1, h, 2), random(2, h, 1)
			norm := kernel.Norm{Gain: random(3, h, 1), Shift: random(4, h, 1), Eps: 1e-12}
			var mean, variance float64
			for i := range a {
				mean += float64(a[i]+r[i]) / float64(h)
			}
			for i := range a {
				variance += math.Pow(float64(a[i]+r[i])-mean, 2) / float64(h)
			}
			out := slices.Clone(a)
			norm.Add(out, r, out)
			for i := range a {
				want := (float64(a[i]+r[i])-mean)/math.Sqrt(variance+1e-12)*float64(norm.Gain[i]) + float64(norm.Shift[i])
				if math.Abs(want-float64(out[i])) > 2e-5 {
					t.Fatalf("%d columns, column %d: %g, want %g", h, i, out[i], want)
				}
			}
		}
	})
}

// TestAttend proves attention against float64 for lengths around the tiles; rows past the sequence hold NaN on purpose.
func TestAttend(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 6, 7, 8, 9, 12, 14, 15, 16, 17, 31, 33, 40, 128, 512} {
			const d, ld = 32, 96
			qkv := random(uint64(n), (n+16)*ld, 1)
			for i := n * ld; i < len(qkv); i++ {
				qkv[i] = float32(math.NaN())
			}
			out := make([]float32, n*d)
			head := kernel.Head{Q: qkv, K: qkv[32:], V: qkv[64:], Tokens: n, Dim: d, Stride: ld}
			head.Attend(out, d, kernel.NewAttentionBuffer(512, d))
			if i, diff := attentionError(head, out); diff > 1e-4 {
				t.Errorf("%d tokens: value %d off by %g", n, i, diff)
			}
		}
	})
}

// attentionError compares out with attention in float64 and gives the worst place.
func attentionError(h kernel.Head, out []float32) (at int, worst float64) {
	for i := range h.Tokens {
		p, sum := make([]float64, h.Tokens), 0.0
		for j := range p {
			for c := range h.Dim {
				p[j] += float64(h.Q[i*h.Stride+c]) * float64(h.K[j*h.Stride+c])
			}
			p[j] = math.Exp(p[j] - 20)
			sum += p[j]
		}
		for c := range h.Dim {
			want := 0.0
			for j := range p {
				want += p[j] / sum * float64(h.V[j*h.Stride+c])
			}
			if d := math.Abs(want - float64(out[i*h.Dim+c])); !(d <= worst) {
				at, worst = i*h.Dim+c, d
			}
		}
	}
	return at, worst
}

// TestNormalize proves that vectors without a direction are told apart from those that have one.
func TestNormalize(t *testing.T) {
	t.Parallel()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, v := range [][]float32{{0, 0}, {nan, 1}, {inf, 1}, {}} {
		if kernel.Normalize(v) {
			t.Errorf("Normalize(%v) said yes", v)
		}
	}
	v := []float32{3, 0, 4, 0, 0}
	if !kernel.Normalize(v) || math.Abs(float64(kernel.Dot(v, v))-1) > 1e-6 {
		t.Errorf("normalised to %v", v)
	}
}

func BenchmarkMul(b *testing.B) {
	for _, s := range [][3]int{{12, 1152, 384}, {128, 1152, 384}, {128, 384, 1536}} {
		rows, n, k := s[0], s[1], s[2]
		x, w, c := random(1, rows*k, 1), random(2, n*k, .05), make([]float32, rows*n)
		f, q, l := kernel.PackF32(w, k, make([]float32, n)), kernel.PackI8(w, k, make([]float32, n)), kernel.NewLevels(rows, k)
		for i := range rows {
			l.Quantise(i, x[i*k:(i+1)*k])
		}
		shape := "/" + strconv.Itoa(rows) + "x" + strconv.Itoa(n) + "x" + strconv.Itoa(k)
		run := func(name string, f func()) {
			b.Run(name+shape, func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(rows*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
		for _, p := range cpu.Available() {
			name := p.String()
			use(b, name)
			run(name+"/f32", func() { f.Mul(rows, x, c, n) })
			run(name+"/i8", func() { q.Mul(rows, l, c, n) })
		}
	}
	use(b, "auto")
}

package vector_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/cpu"
	"quarry/internal/index/vector"
)

// The tests that choose a kernel path do not run in parallel: it is a setting of the whole process.

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

// shapes are kinds of vectors that quantisers get wrong.
var shapes = map[string]func(rng *rand.Rand, v []float32){
	"normal": func(rng *rand.Rand, v []float32) {
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
	},
	"one-hot":   func(rng *rand.Rand, v []float32) { v[rng.IntN(len(v))] = 1 },
	"two equal": func(_ *rand.Rand, v []float32) { v[0], v[len(v)-1] = 1, 1 },
	"constant": func(_ *rand.Rand, v []float32) {
		for i := range v {
			v[i] = -1
		}
	},
	"cluster": func(rng *rand.Rand, v []float32) {
		for i := range v {
			v[i] = float32(math.Sin(float64(i)) + 0.05*rng.NormFloat64())
		}
	},
	"heavy": func(rng *rand.Rand, v []float32) {
		for i := range v {
			v[i] = float32(math.Pow(rng.NormFloat64(), 5))
		}
	},
}

func sample(seed uint64, dim, n int) [][]float32 {
	rng := rand.New(rand.NewPCG(seed, 7))
	names := []string{"normal", "cluster", "one-hot", "normal", "heavy", "two equal", "normal", "constant"}
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, dim)
		shapes[names[i%len(names)]](rng, out[i])
		unit(out[i])
	}
	return out
}

func unit(v []float32) {
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(s))
	}
}

func pack(t testing.TB, v []float32) []byte {
	t.Helper()
	b, err := vector.Pack(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func build(t testing.TB, rot *vector.Rotation, vs [][]float32) *vector.Rows {
	t.Helper()
	b := vector.NewBuilder(rot, len(vs))
	for _, v := range vs {
		if err := b.Add(pack(t, v)); err != nil {
			t.Fatal(err)
		}
	}
	return b.Rows()
}

type hit struct {
	row   int
	score float64
}

func order(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.row, b.row)) }

// top is Search with the simplest collector.
func top(r *vector.Rows, q *vector.Query, allow []uint64, k int) []hit {
	var hits []hit
	r.Search(q, vector.Want{Allow: allow, K: k, Floor: math.Inf(-1)}, func(row int, score float64) float64 {
		hits = append(hits, hit{row, score})
		slices.SortFunc(hits, order)
		hits = hits[:min(k, len(hits))]
		if len(hits) < k {
			return math.Inf(-1)
		}
		return hits[k-1].score
	})
	return hits
}

func query(t testing.TB, rot *vector.Rotation, v []float32) *vector.Query {
	t.Helper()
	q, err := vector.NewQuery(rot, v)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Search gives exactly the rows that scoring every row with both planes gives, on every kernel path, for widths with
// and without padding, with and without a filter.
func TestSearchEqualsScoringAll(t *testing.T) {
	everyPath(t, func(t *testing.T) {
		for _, dim := range []int{1, 64, 100, 384, 768} {
			rot := vector.NewRotation(dim, 5)
			vs := sample(uint64(dim), dim, 1100)
			rows := build(t, rot, vs)
			for qi, v := range sample(99, dim, 9) {
				q := query(t, rot, v)
				allow := make([]uint64, (len(vs)+63)/64)
				for i := range vs {
					if qi < 3 || i*7919%(3*qi*qi) == 0 {
						allow[i/64] |= 1 << (i % 64)
					}
				}
				if qi == 0 {
					allow = nil
				}
				var want []hit
				for i := range vs {
					if allow == nil || allow[i/64]>>(i%64)&1 == 1 {
						want = append(want, hit{i, rows.Score(q, i)})
					}
				}
				slices.SortFunc(want, order)
				want = want[:min(10, len(want))]
				if got := top(rows, q, allow, 10); !slices.Equal(got, want) {
					t.Fatalf("dim %d query %d:\ngot  %v\nwant %v", dim, qi, got, want)
				}
			}
		}
	})
}

// Scores are the cosine of float64 arithmetic up to the rounding to 16 bits.
func TestScoreIsTheCosine(t *testing.T) {
	t.Parallel()
	const dim = 384
	rot := vector.NewRotation(dim, 1)
	vs := sample(3, dim, 400)
	rows := build(t, rot, vs)
	for _, v := range sample(4, dim, 16) {
		q := query(t, rot, v)
		for i := range vs {
			var want float64
			for j := range v {
				want += float64(v[j]) * float64(vs[i][j])
			}
			if got := rows.Score(q, i); math.Abs(got-want) > 4e-5 {
				t.Fatalf("row %d: %v, want %v", i, got, want)
			}
		}
	}
}

// Rows that are copied from one store to another keep their bytes and so their scores.
func TestCopyKeepsRows(t *testing.T) {
	t.Parallel()
	rot := vector.NewRotation(128, 2)
	rows := build(t, rot, sample(8, 128, 20))
	b := vector.NewBuilder(rot, 20)
	for i := range 20 {
		b.Copy(rows, 19-i)
	}
	back := b.Rows()
	q := query(t, rot, sample(9, 128, 1)[0])
	for i := range 20 {
		if got, want := back.Score(q, 19-i), rows.Score(q, i); got != want {
			t.Fatalf("row %d: %v, want %v", i, got, want)
		}
	}
}

// The packed form comes back within half a step, and has the size that the store plans with.
func TestPackRoundTrip(t *testing.T) {
	t.Parallel()
	for _, v := range sample(6, 384, 64) {
		b := pack(t, v)
		if len(b) != 772 {
			t.Fatalf("%d bytes, want 772", len(b))
		}
		got := make([]float32, len(v))
		if err := vector.UnpackTo(got, b); err != nil {
			t.Fatal(err)
		}
		for i := range v {
			if d := math.Abs(float64(got[i] - v[i])); d > 1.0/32767/2*1.001 {
				t.Fatalf("dimension %d: %v, want %v", i, got[i], v[i])
			}
		}
	}
}

// Vectors without a direction are refused at every door.
func TestNoDirection(t *testing.T) {
	t.Parallel()
	inf := float32(math.Inf(1))
	for name, v := range map[string][]float32{
		"empty": {}, "zero": {0, 0}, "nan": {1, float32(math.NaN())}, "inf": {inf, 0}, "-inf": {0, -inf}, "tiny": {1e-42, 0},
	} {
		if _, err := vector.Pack(v); err == nil {
			t.Errorf("Pack accepts %s", name)
		}
		if _, err := vector.NewQuery(vector.NewRotation(len(v), 0), v); err == nil {
			t.Errorf("NewQuery accepts %s", name)
		}
	}
	if _, err := vector.NewQuery(vector.NewRotation(3, 0), []float32{1}); err == nil {
		t.Error("NewQuery accepts a wrong dimension")
	}
	b := vector.NewBuilder(vector.NewRotation(2, 0), 1)
	for name, packed := range map[string][]byte{
		"short": {0, 0, 0x80, 0x3f}, "nan scale": {0, 0, 0xc0, 0x7f, 1, 0, 1, 0}, "zero": {0, 0, 0x80, 0x3f, 0, 0, 0, 0},
		"zero scale": {0, 0, 0, 0, 1, 0, 1, 0},
	} {
		if err := b.Add(packed); err == nil {
			t.Errorf("Add accepts %s", name)
		}
	}
	if n := b.Rows().Len(); n != 0 {
		t.Errorf("%d rows after refusals", n)
	}
}

// Unpack takes any bytes without a panic, and what it accepts is a vector.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{0, 0, 0x80, 0x3f, 1, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		v := make([]float32, max(0, len(b)-4)/2)
		if err := vector.UnpackTo(v, b); err == nil && len(b) != 4+2*len(v) {
			t.Fatalf("%d dimensions of %d bytes", len(v), len(b))
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	const n, dim = 100_000, 384
	rot := vector.NewRotation(dim, 5)
	rng := rand.New(rand.NewPCG(1, 1))
	base := sample(2, dim, 400)
	build := vector.NewBuilder(rot, n)
	v := make([]float32, dim)
	for range n {
		copy(v, base[rng.IntN(len(base))])
		for i := range v {
			v[i] += float32(0.06 * rng.NormFloat64())
		}
		unit(v)
		if err := build.Add(pack(b, v)); err != nil {
			b.Fatal(err)
		}
	}
	rows := build.Rows()
	q := query(b, rot, v)
	for _, p := range cpu.Available() {
		name := p.String()
		use(b, name)
		b.Run(name, func(b *testing.B) {
			settled := 0
			for b.Loop() {
				settled = 0
				var heap []float64
				rows.Search(q, vector.Want{K: 100, Floor: math.Inf(-1)}, func(_ int, s float64) float64 {
					settled++
					i, _ := slices.BinarySearch(heap, s)
					heap = slices.Insert(heap, i, s)
					if len(heap) > 100 {
						heap = heap[1:]
					}
					if len(heap) < 100 {
						return math.Inf(-1)
					}
					return heap[0]
				})
			}
			b.ReportMetric(float64(settled), "settled/op")
		})
	}
	use(b, "auto")
}

// BenchmarkScan measures the kernels on rows that stay in the cache.
func BenchmarkScan(b *testing.B) {
	const dim, n = 384, 500
	rot := vector.NewRotation(dim, 5)
	rows := build(b, rot, sample(2, dim, n))
	q := query(b, rot, sample(3, dim, 1)[0])
	for _, p := range cpu.Available() {
		name := p.String()
		use(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				rows.Search(q, vector.Want{K: 1, Floor: 2}, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
	use(b, "auto")
}

// TestVector proves that a row can be read back as it was before the rotation, brought to unit length.
func TestVector(t *testing.T) {
	t.Parallel()
	for _, dim := range []int{1, 64, 100, 384} {
		rotation := vector.NewRotation(dim, 5)
		all := sample(9, dim, 16)
		b := vector.NewBuilder(rotation, len(all))
		for _, v := range all {
			packed, err := vector.Pack(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Add(packed); err != nil {
				t.Fatal(err)
			}
		}
		rows := b.Rows()
		for i, v := range all {
			got, length := rows.Vector(i), 0.0
			for _, x := range v {
				length += float64(x) * float64(x)
			}
			for j := range v {
				if d := math.Abs(float64(got[j]) - float64(v[j])/math.Sqrt(length)); len(got) != dim || d > 1e-3 {
					t.Fatalf("%d dimensions, row %d: value %d is off by %v", dim, i, j, d)
				}
			}
		}
	}
}

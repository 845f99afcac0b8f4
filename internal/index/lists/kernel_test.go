package lists

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quarry/internal/cpu"
)

// use chooses a kernel path for the rest of the test, which therefore does not run in parallel: it is a setting of the whole
// process.
func use(t testing.TB, p cpu.Path) {
	t.Helper()
	t.Cleanup(func() {
		if err := cpu.Use("auto"); err != nil {
			t.Error(err)
		}
	})
	if err := cpu.Use(p.String()); err != nil {
		t.Fatal(err)
	}
}

func randomTable(width int, entry func() byte) *table {
	t := &table{width: width, entries: make([]byte, width/quadDims*128)}
	for g := range width / groupDims {
		for n := range 16 {
			at := g/4*128 + [...]int{0, 64, 32, 96}[g%4] + n
			t.entries[at] = entry()
			t.entries[at+16] = t.entries[at]
		}
	}
	return t
}

// TestSums proves that every kernel path adds up the same integers as the definition, bit by bit, up to the ends of all
// ranges.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := map[string][2]func() byte{
		"random":  {func() byte { return byte(rng.IntN(entryMost + 1)) }, func() byte { return byte(rng.Uint32()) }},
		"highest": {func() byte { return entryMost }, func() byte { return 255 }},
		"lowest":  {func() byte { return 0 }, func() byte { return 0 }},
		"odd":     {func() byte { return entryMost }, func() byte { return 0xa5 }},
	}
	for name, kind := range kinds {
		for _, width := range []int{64, 128, 192, 384, 1536, 4096} {
			for _, blocks := range []int{0, 1, 2, blockCall} {
				tab, codes := randomTable(width, kind[0]), make([]byte, blocks*blockBytes(width))
				for i := range codes {
					codes[i] = kind[1]()
				}
				want := make([]uint16, blocks*perBlock)
				for c := range want {
					for g := range width / groupDims {
						nibble := codes[c/perBlock*blockBytes(width)+g/2*perBlock+c%perBlock] >> (4 * (g % 2)) & 15
						want[c] += uint16(tab.group(g)[nibble])
					}
				}
				for _, p := range cpu.Available() {
					use(t, p)
					got := make([]uint16, len(want))
					if sums(tab, codes, got); !slices.Equal(got, want) {
						t.Fatalf("%v, %s, width %d, %d blocks:\ngot  %v\nwant %v", p, name, width, blocks, got, want)
					}
				}
			}
		}
	}
}

// TestReach proves that every path decides alike about every code, with the values at which floats differ most.
func TestReach(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	odd := []float32{0, -0, 1, 1e-30, -1e-30, 3e38, -3e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	pick := func() float32 {
		if rng.IntN(4) == 0 {
			return odd[rng.IntN(len(odd))]
		}
		return float32(rng.NormFloat64())
	}
	for range 300 {
		blocks := 1 + rng.IntN(blockCall)
		values, factors := make([]uint16, blocks*perBlock), make([]byte, 4*blocks*perBlock)
		for i := range values {
			values[i] = uint16(rng.Uint32())
			putFloat(factors[4*i:], pick())
		}
		at := bar{pick(), pick(), pick()}
		want, got := make([]uint32, blocks), make([]uint32, blocks)
		reachGo(values, factors, at, want)
		for _, p := range cpu.Available() {
			use(t, p)
			if reach(values, factors, at, got); !slices.Equal(got, want) {
				t.Fatalf("%v, %+v:\ngot  %x\nwant %x", p, at, got, want)
			}
		}
	}
}

// TestTable proves that the table gives the sum of a query's values with the signs of a code, up to half a step for each
// group, and that no sum leaves 16 bits, whatever the width and shape of the query.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, width := range []int{64, 384, 1024, 4096} {
		for shape := range 4 {
			x := make([]float32, width)
			for i := range x {
				switch shape {
				case 0:
					x[i] = float32(rng.NormFloat64())
				case 1:
					x[i] = 1
				case 2:
					x[i] = -1
				}
			}
			x[rng.IntN(width)] = 5
			var tab table
			tab.set(x)
			for range 50 {
				codes, want, most := make([]byte, blockBytes(width)), 0.0, 0
				for i, v := range x {
					if rng.IntN(2) == 0 || shape == 1 {
						codes[i/8*perBlock] |= 1 << (i % 8)
						want += float64(v)
					} else {
						want -= float64(v)
					}
				}
				var out [perBlock]uint16
				sumsGo(&tab, codes, out[:])
				for g := range width / groupDims {
					most += int(slices.Max(tab.group(g)[:]))
				}
				got := tab.step*float64(out[0]) + tab.shift
				if math.Abs(got-want) > tab.step/2*float64(width/groupDims)+1e-3 || most > math.MaxUint16 {
					t.Fatalf("width %d, shape %d: %v, want %v; sums up to %d", width, shape, got, want, most)
				}
			}
		}
	}
}

// BenchmarkSums measures the kernels on codes that stay in the cache.
func BenchmarkSums(b *testing.B) {
	for _, width := range []int{384, 768} {
		rng := rand.New(rand.NewPCG(1, 1))
		tab := randomTable(width, func() byte { return byte(rng.IntN(entryMost)) })
		codes, factors := make([]byte, blockCall*blockBytes(width)), make([]byte, 4*blockCall*perBlock)
		for i := range codes {
			codes[i] = byte(rng.Uint32())
		}
		var out [blockCall * perBlock]uint16
		var mask [blockCall]uint32
		for _, p := range cpu.Available() {
			use(b, p)
			b.Run(p.String()+"-"+map[int]string{384: "384", 768: "768"}[width], func(b *testing.B) {
				for b.Loop() {
					sums(tab, codes, out[:])
					reach(out[:], factors, bar{1, 1, 1}, mask[:])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/code")
			})
		}
	}
}

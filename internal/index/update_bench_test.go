package index_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/vector"
	"quarry/internal/search"
)

// BenchmarkUpdate changes the values of 100,000 documents in batches of 500 and searches with filters meanwhile.
func BenchmarkUpdate(b *testing.B) {
	const docs, batch = 100_000, 500
	schema, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "area", Type: filter.TextType}, {Level: filter.Document, Name: "n", Type: filter.Integer},
		{Level: filter.Document, Name: "title", Type: filter.TextType}, {Level: filter.Document, Name: "x", Type: filter.RealNumber},
		{Level: filter.Document, Name: "tags", Type: filter.TextList},
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x, err := index.Open(index.Config{Dir: b.TempDir(), Epoch: 1, Schema: schema, Dim: 384})
		if err != nil {
			b.Fatal(err)
		}
		rng, no := rand.New(rand.NewPCG(1, 1)), int64(0)
		values := func(no int64) []filter.Value {
			return []filter.Value{
				filter.Text(fmt.Sprint("a", rng.IntN(20))), filter.Int(rng.Int64N(1000)), filter.Text(fmt.Sprint("title of ", no, rng.IntN(100))),
				filter.Real(rng.Float64()), filter.List(filter.TextList, filter.Text(fmt.Sprint("t", rng.IntN(50)))),
			}
		}
		point := func() []float32 {
			v, norm := make([]float32, 384), 0.0
			for i := range v {
				v[i] = float32(rng.NormFloat64())
				norm += float64(v[i] * v[i])
			}
			for i := range v {
				v[i] /= float32(math.Sqrt(norm))
			}
			return v
		}
		err = x.Replace(1, func() (out []index.Document, err error) {
			for range batch {
				if no == docs {
					break
				}
				no++
				d := index.Document{No: no, ID: fmt.Sprint("doc ", no), Values: values(no)}
				p := index.Part{}
				for range 30 {
					p.Stems = append(p.Stems, fmt.Sprint("w", int(math.Exp(rng.Float64()*9))))
				}
				if p.Vector, err = vector.Pack(point()); err != nil {
					return nil, err
				}
				d.Parts = []index.Part{p}
				out = append(out, d)
			}
			return out, nil
		})
		if err != nil {
			b.Fatal(err)
		}
		search := func() time.Duration {
			q := search.Query{Vector: point(), Terms: []string{"w7", "w300", "w4000"}, Filter: "doc.n < 500 AND doc.area <> 'a7'", K: 100}
			s := x.Snapshot()
			defer s.Release()
			start := time.Now()
			if _, err := s.Search(context.Background(), q); err != nil {
				b.Fatal(err)
			}
			return time.Since(start)
		}
		var idle, during, applies []time.Duration
		for range 100 {
			idle = append(idle, search())
		}
		before := x.Stats()
		for from := int64(1); from <= docs; from += batch {
			changes := make([]index.Change, batch)
			for i := range changes {
				doc := &index.Document{No: (from+int64(i))*7919%docs + 1, Values: values(from)}
				changes[i] = index.Change{Seq: x.Applied() + 1 + int64(i), Op: index.Update, No: doc.No, Doc: doc}
			}
			start := time.Now()
			if err := x.Apply(changes); err != nil {
				b.Fatal(err)
			}
			applies = append(applies, time.Since(start))
			during = append(during, search())
		}
		after := x.Stats()
		start := time.Now()
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
		b.Logf("search idle %s; during %s; apply %s; close %v; heap %d -> %d bytes, segments %d", percentiles(idle), percentiles(during),
			percentiles(applies), time.Since(start), before.HeapBytes, after.HeapBytes, after.Segments)
	}
}

func percentiles(d []time.Duration) string {
	slices.Sort(d)
	at := func(p int) time.Duration { return d[(len(d)-1)*p/100].Round(10 * time.Microsecond) }
	return fmt.Sprintf("p50 %v p95 %v max %v", at(50), at(95), at(100))
}

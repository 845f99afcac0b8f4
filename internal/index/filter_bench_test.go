//go:build unix

package index_test

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/condition"
)

// BenchmarkFilter counts the rows of a million documents of one part that pass filters: the first time, and with results of the
// conditions kept.
func BenchmarkFilter(b *testing.B) {
	const docs = 1_000_000
	schema, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "area", Type: filter.TextType}, {Level: filter.Document, Name: "n", Type: filter.Integer},
		{Level: filter.Document, Name: "at", Type: filter.Integer}, {Level: filter.Document, Name: "x", Type: filter.RealNumber},
		{Level: filter.Document, Name: "tags", Type: filter.TextList},
	})
	if err != nil {
		b.Fatal(err)
	}
	cfg := index.Config{Dir: b.TempDir(), Epoch: 1, Schema: schema}
	x, err := index.Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	rng, no := rand.New(rand.NewPCG(1, 1)), int64(0)
	err = x.Replace(1, func() (out []index.Document, err error) {
		for len(out) < 1000 && no < docs {
			no++
			out = append(out, index.Document{No: no, ID: fmt.Sprint("doc ", no), Parts: []index.Part{{Lang: "eng", Stems: []string{"a"}}}, Values: []filter.Value{
				filter.Text(fmt.Sprint("a", rng.IntN(20))), filter.Int(rng.Int64N(1000)), filter.Int(7*no + rng.Int64N(100)),
				filter.Real(rng.Float64()), filter.List(filter.TextList, filter.Text(fmt.Sprint("t", rng.IntN(50))), filter.Text(fmt.Sprint("u", rng.IntN(5000)))),
			}})
		}
		return out, nil
	})
	if err == nil {
		err = x.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, kept := range []*condition.Cache{nil, condition.New(64 << 20)} {
		cfg.Conditions = kept
		if x, err = index.Open(cfg); err != nil {
			b.Fatal(err)
		}
		s := x.Snapshot()
		for _, text := range []string{
			"doc.area = 'a7'", "doc.area <> 'a7'", "doc.n = 7", "doc.n < 500", "doc.n < 500 AND doc.area <> 'a7'", "doc.at >= 6900000",
			"doc.x < 0.1", "'t7' IN doc.tags", "'u7' IN doc.tags", "doc.id = 'doc 77777'", "part.lang = 'eng'", "doc.area IN ('a1', 'a3', 'a5')",
			"doc.n % 2 = 0", "doc.n % 2 = 0 AND doc.area = 'a7'", "doc.area = 'a7' AND 't7' IN doc.tags AND doc.at >= 3500000",
		} {
			f, err := filter.Parse(text, schema, filter.Both)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(map[bool]string{true: "first/", false: "again/"}[kept == nil]+text, func(b *testing.B) {
				n, before := 0, processor(b)
				for b.Loop() {
					n = s.Matched(f)
				}
				b.ReportMetric(float64((processor(b)-before).Microseconds())/float64(b.N), "processor-µs/op")
				b.ReportMetric(float64(n), "rows")
			})
		}
		s.Release()
		b.Logf("%+v; conditions %+v", x.Stats(), kept.Stats())
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// processor returns the processor time that the process has taken, which other work on the machine changes less than the clock.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

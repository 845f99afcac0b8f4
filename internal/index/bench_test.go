package index_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"quarry/internal/expr/filter"
	"quarry/internal/index"
	"quarry/internal/index/vector"
	"quarry/internal/search"
	"quarry/internal/testkit"
	"quarry/internal/text/analysis"
)

const (
	dataDir   = "../../../shared/data/win32docs/"
	benchRows = 100_000
	benchDim  = 384
)

// source reads documents of win32docs and cuts their sections into passages. Vectors are random points around 500
// centres: what the scan costs does not depend on what they mean.
type source struct {
	lines   *bufio.Scanner
	rng     *rand.Rand
	centres [][]float32
	rows    int
	no      int64
	queries [][]string
}

func newSource(b testing.TB) *source {
	f, err := os.Open(dataDir + "documents-0.jsonl.gz")
	if err != nil {
		testkit.Skip(b, "win32docs is not there")
	}
	b.Cleanup(func() { _ = f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	s := &source{lines: bufio.NewScanner(z), rng: rand.New(rand.NewPCG(1, 2))}
	s.lines.Buffer(nil, 1<<24)
	for range 500 {
		s.centres = append(s.centres, s.point(nil, 1))
	}
	return s
}

func (s *source) point(centre []float32, spread float64) []float32 {
	v, norm := make([]float32, benchDim), 0.0
	for i := range v {
		v[i] = float32(spread * s.rng.NormFloat64())
		if centre != nil {
			v[i] += centre[i]
		}
		norm += float64(v[i] * v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(norm))
	}
	return v
}

func (s *source) vector() []float32 { return s.point(s.centres[s.rng.IntN(len(s.centres))], 0.06) }

func (s *source) batch(b testing.TB) (out []index.Document) {
	var raw struct {
		ID       string
		Metadata struct{ Area string }
		Sections []struct{ Title, Text string }
	}
	for len(out) < 200 && s.rows < benchRows && s.lines.Scan() {
		if err := json.Unmarshal(s.lines.Bytes(), &raw); err != nil {
			b.Fatal(err)
		}
		s.no++
		d := index.Document{No: s.no, ID: raw.ID, Values: []filter.Value{filter.Text(raw.Metadata.Area), filter.Int(s.no % 1000)}}
		for _, sec := range raw.Sections {
			for words := strings.Fields(sec.Text); len(words) > 0 && s.rows < benchRows; s.rows++ {
				n := min(len(words), 60)
				terms := analysis.Analyze(strings.Join(words[:n], " "), "eng")
				packed, err := vector.Pack(s.vector())
				if err != nil {
					b.Fatal(err)
				}
				if s.rng.IntN(200) == 0 && n > 12 {
					s.queries = append(s.queries, analysis.Analyze(strings.Join(words[:12], " "), "eng").Stems)
				}
				d.Parts = append(d.Parts, index.Part{Ord: len(d.Parts), Stems: terms.Stems, Words: terms.Words, Vector: packed,
					Heading: analysis.Analyze(sec.Title, "eng").Stems})
				words = words[n:]
			}
		}
		out = append(out, d)
	}
	return out
}

// BenchmarkIndex measures searches of 100,000 passages, opening, and writes of one document.
func BenchmarkIndex(b *testing.B) {
	schema, err := filter.NewSchema([]filter.Attribute{
		{Level: filter.Document, Name: "area", Type: filter.TextType}, {Level: filter.Document, Name: "n", Type: filter.Integer},
	})
	if err != nil {
		b.Fatal(err)
	}
	cfg := index.Config{Dir: b.TempDir(), Epoch: 1, Schema: schema, Dim: benchDim}
	x, err := index.Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	s := newSource(b)
	var spent time.Duration
	start := time.Now()
	err = x.Replace(1, func() ([]index.Document, error) {
		began := time.Now()
		docs := s.batch(b)
		spent += time.Since(began)
		return docs, nil
	})
	if err != nil {
		b.Fatal(err)
	}
	merged(b, x, true)
	b.Logf("built in %v beside %v of analysis: %+v", time.Since(start)-spent, spent, x.Stats())
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if x, err = index.Open(cfg); err != nil {
				b.Fatal(err)
			}
			if err := x.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	if x, err = index.Open(cfg); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = x.Close() }()
	snap := x.Snapshot()
	defer snap.Release()
	for _, c := range []struct {
		name  string
		query func(i int) search.Query
	}{
		{"dense", func(int) search.Query { return search.Query{Vector: s.vector()} }},
		{"lexical", func(i int) search.Query { return search.Query{Terms: s.queries[i%len(s.queries)]} }},
		{"hybrid", func(i int) search.Query {
			return search.Query{Terms: s.queries[i%len(s.queries)], Vector: s.vector()}
		}},
		{"hybrid-half", func(i int) search.Query {
			return search.Query{Terms: s.queries[i%len(s.queries)], Vector: s.vector(), Filter: "doc.n % 2 = 0"}
		}},
		{"hybrid-column", func(i int) search.Query {
			return search.Query{Terms: s.queries[i%len(s.queries)], Vector: s.vector(), Filter: "doc.n < 500 AND doc.area <> 'AD'"}
		}},
		{"hybrid-few", func(i int) search.Query {
			return search.Query{Terms: s.queries[i%len(s.queries)], Vector: s.vector(), Filter: "doc.n = 7"}
		}},
		{"phrase", func(int) search.Query { return search.Query{Phrases: [][]string{{"the", "following"}}} }},
		{"prefix", func(int) search.Query { return search.Query{Prefixes: []string{"s"}} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				q := c.query(i)
				q.K = 100
				if _, err := snap.Search(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("apply", func(b *testing.B) {
		part := index.Part{Stems: s.queries[0], Words: []analysis.Term{{Text: "a"}}}
		part.Vector, _ = vector.Pack(s.vector())
		for b.Loop() {
			s.no++
			d := &index.Document{No: s.no, ID: fmt.Sprint("new ", s.no), Parts: []index.Part{part}}
			if err := x.Apply([]index.Change{{Seq: x.Applied() + 1, Op: index.Put, No: s.no, Doc: d}}); err != nil {
				b.Fatal(err)
			}
		}
	})
	runtime.GC()
	b.Logf("%s; %+v", resident(), x.Stats())
}

// resident gives the resident memory of the process where the system tells it.
func resident() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "RssAnon") || strings.HasPrefix(line, "RssFile") {
			return strings.TrimSpace(line)
		}
	}
	return "resident memory unknown"
}

//go:build unix

package metaquery_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metaquery"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
	"quarry/internal/text/fuzzy"
)

// vocabulary returns words as skewed as those of prose: few often, many seldom.
func vocabulary(r *rand.Rand, n int) func(words int) string {
	all := make([]string, n)
	for i := range all {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteByte("bcdfghklmnprstvz"[r.IntN(16)])
			b.WriteByte("aeiou"[r.IntN(5)])
		}
		all[i] = b.String()
	}
	all[7], all[900], all[40] = "maintenance", "hydraulic", "plan"
	zipf := rand.NewZipf(r, 1.1, 5, uint64(n-1))
	return func(words int) string {
		out := make([]string, words)
		for i := range out {
			out[i] = all[zipf.Uint64()]
		}
		return strings.Join(out, " ")
	}
}

// catalogue writes n documents with metadata such as a document management system gives, about 450 bytes each.
func catalogue(b *testing.B, config store.Config, n int) (*metaquery.Service, string) {
	b.Helper()
	db, err := store.Open(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	c, err := corpora.New(db).Create(b.Context(), corpus.Corpus{
		ID: id.NewCorpus(), Key: "catalogue", Attributes: []corpus.Attribute{{Name: "year", Level: "document", Type: "integer"}},
	})
	if err != nil {
		b.Fatal(err)
	}
	rows := documents.New(db)
	r := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(r, 30_000)
	work := make(chan *document.Document, 64)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for d := range work {
				if _, err := rows.Insert(b.Context(), c.No, c.Epoch, d); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range n {
		metadata, err := json.Marshal(map[string]any{
			"title": words(3 + r.IntN(5)), "summary": words(25), "year": 1990 + r.IntN(40), "owner": words(2), "open": i%3 == 0,
			"code": fmt.Sprintf("%08x-%04d", r.Uint32(), r.IntN(10_000)), "tags": strings.Fields(words(4)),
			"author": map[string]any{"name": words(2), "mail": words(1) + "@example.org"}, "changed": fmt.Sprintf("20%02d-0%d-1%d", r.IntN(30), 1+r.IntN(9), r.IntN(10)),
		})
		if err != nil {
			b.Fatal(err)
		}
		work <- &document.Document{ID: fmt.Sprintf("doc-%06d", i), Metadata: metadata, Digest: "d"}
	}
	close(work)
	all.Wait()
	return metaquery.New(corpora.New(db), rows), c.Key
}

// processorTime is what this process has used: the figure to trust on a busy machine.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRun asks 100,000 documents; the time of one operation is that of one query.
func BenchmarkRun(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			config := store.Config{Dir: b.TempDir()}
			if engine == "postgres" {
				config = store.Config{URL: storetest.Postgres(b)}
			}
			s, key := catalogue(b, config, 100_000)
			field := func(name, text string) fuzzy.Field {
				return fuzzy.Field{Name: name, Text: text, Weight: 1, Fuzzy: true, Prefix: 3}
			}
			for _, c := range []struct {
				name  string
				query metaquery.Query
			}{
				{"one field", metaquery.Query{Fields: []fuzzy.Field{field("title", "maintnance plan")}}},
				{"four fields", metaquery.Query{Fields: []fuzzy.Field{
					field("title", "maintnance plan"), field("summary", "hydraulic maintenance"), field("author.name", "plan"), field("tags", "hydraulik"),
				}}},
				{"codes", metaquery.Query{Fields: []fuzzy.Field{field("code", "9f3c0b1e-1234")}}},
				{"filter", metaquery.Query{Fields: []fuzzy.Field{field("title", "maintnance plan")}, Filter: "doc.year >= 2020"}},
				{"deep page", metaquery.Query{Fields: []fuzzy.Field{field("title", "maintnance plan")}, Offset: 10_000}},
			} {
				b.Run(c.name, func(b *testing.B) {
					c.query.Corpus, c.query.Limit = key, 10
					b.ReportAllocs()
					before := processorTime(b)
					defer func() { b.ReportMetric(float64((processorTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op") }()
					for b.Loop() {
						got, err := s.Run(b.Context(), c.query)
						if err != nil || got.Total == 0 {
							b.Fatal(got.Total, err)
						}
						b.ReportMetric(float64(got.Total), "matches")
					}
				})
			}
		})
	}
}

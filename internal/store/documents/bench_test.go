package documents_test

import (
	"fmt"
	"strings"
	"testing"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/id"
	"quarry/internal/store"
	"quarry/internal/store/corpora"
	"quarry/internal/store/documents"
	"quarry/internal/store/storetest"
)

// passage is about the size of a passage of 100 tokens.
var passage = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 12)

func sample(docID string, parts int) *document.Document {
	d := &document.Document{ID: docID, Metadata: []byte(`{"source":"bench"}`), Digest: strings.Repeat("0", 64)}
	for i := range parts {
		v := make([]byte, 772)
		for j := range v {
			v[j] = byte(i*31 + j*7)
		}
		d.Parts = append(d.Parts, document.Part{Ord: i, Text: passage, Metadata: []byte(`{"lang":"eng"}`), Lang: "eng", Gap: " ", Vector: v})
	}
	return d
}

func open(b *testing.B, c store.Config) (*corpora.Store, *documents.Store, corpus.Corpus) {
	b.Helper()
	db, err := store.Open(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	made, err := corpora.New(db).Create(b.Context(), corpus.Corpus{ID: id.NewCorpus(), Key: "b"})
	if err != nil {
		b.Fatal(err)
	}
	return corpora.New(db), documents.New(db), made
}

// BenchmarkInsert writes documents of ten parts from 1 and from 16 clients; the figure to look at is parts/s.
func BenchmarkInsert(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		for _, clients := range []int{1, 16} {
			b.Run(fmt.Sprintf("%s/clients=%d", engine, clients), func(b *testing.B) {
				config := store.Config{Dir: b.TempDir()}
				if engine == "postgres" {
					config = store.Config{URL: storetest.Postgres(b)}
				}
				_, docs, c := open(b, config)
				work := make(chan int)
				done := make(chan error, clients)
				b.ResetTimer()
				for range clients {
					go func() {
						var err error
						for i := range work {
							if err == nil {
								_, err = docs.Insert(b.Context(), c.No, c.Epoch, sample(fmt.Sprint(i), 10))
							}
						}
						done <- err
					}()
				}
				for i := range b.N {
					work <- i
				}
				close(work)
				for range clients {
					if err := <-done; err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(10*b.N)/b.Elapsed().Seconds(), "parts/s")
			})
		}
	}
}

// BenchmarkScan reads a corpus of 20,000 parts whole; BenchmarkReset, which ends it, drops one.
func BenchmarkScan(b *testing.B) {
	_, docs, c := open(b, store.Config{Dir: b.TempDir()})
	for i := range 20 {
		if _, err := docs.Insert(b.Context(), c.No, c.Epoch, sample(fmt.Sprint(i), 1000)); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		parts := 0
		for after := int64(0); ; {
			page, _, _, err := docs.Scan(b.Context(), c.No, after, 4)
			if err != nil {
				b.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				parts += len(d.Parts)
			}
			after = page[len(page)-1].No
		}
		if parts != 20000 {
			b.Fatalf("%d parts", parts)
		}
	}
	b.ReportMetric(float64(20000*b.N)/b.Elapsed().Seconds(), "parts/s")
}

// BenchmarkPassages reads ten passages with two neighbours on each side, as a query does.
func BenchmarkPassages(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			config := store.Config{Dir: b.TempDir()}
			if engine == "postgres" {
				config = store.Config{URL: storetest.Postgres(b)}
			}
			_, docs, c := open(b, config)
			var refs []document.Ref
			for i := range 200 {
				d := sample(fmt.Sprint(i), 20)
				if _, err := docs.Insert(b.Context(), c.No, c.Epoch, d); err != nil {
					b.Fatal(err)
				}
				if i%20 == 0 {
					refs = append(refs, document.Ref{No: d.No, Ord: i % 17})
				}
			}
			for b.Loop() {
				got, err := docs.Passages(b.Context(), c.No, refs, document.Window{Before: 2, After: 2})
				if err != nil || len(got) != len(refs) {
					b.Fatalf("%d passages, %v", len(got), err)
				}
			}
		})
	}
}

// BenchmarkGet reads the head of a document, the cheapest read there is.
func BenchmarkGet(b *testing.B) {
	_, docs, c := open(b, store.Config{Dir: b.TempDir()})
	if _, err := docs.Insert(b.Context(), c.No, c.Epoch, sample("d", 10)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := docs.Get(b.Context(), c.No, "d", false); err != nil {
			b.Fatal(err)
		}
	}
}

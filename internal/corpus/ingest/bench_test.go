package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quarry/internal/app/apptest"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
)

// BenchmarkReplace compares a new document of 100 passages with its replacement by one in which a passage changed, by one
// in which nothing but the metadata did, and by itself. The figures to look at are the ratios to the creation.
func BenchmarkReplace(b *testing.B) {
	a, _ := apptest.Start(b, nil)
	if _, err := a.Corpora.Create(b.Context(), corpus.Create{Key: "c"}); err != nil {
		b.Fatal(err)
	}
	// sample returns document n, whose passages are its own, with something in its metadata and in its first passage.
	sample := func(n, edition, reading int) document.Document {
		d := draft.Core{ID: fmt.Sprint("d", n), Metadata: fmt.Appendf(nil, `{"edition":%d}`, edition)}
		for i := range 100 {
			if i > 0 {
				reading = 0
			}
			d.Parts = append(d.Parts, draft.CorePart{Text: fmt.Sprintf("Report %d, line %d, reading %d: ", n, i, reading) +
				strings.Repeat("the pump ran at three bar and the valve stayed shut; ", 2)})
		}
		built, err := d.Build(corpus.Corpus{})
		if err != nil {
			b.Fatal(err)
		}
		return *built
	}
	put := func(d document.Document, encoded int) time.Duration {
		began := time.Now()
		added, err := a.Ingest.Create(b.Context(), "c", ready{d}, ingest.Options{Replace: true})
		if err != nil || added.Encoded != encoded {
			b.Fatalf("%d encoded, want %d: %v", added.Encoded, encoded, err)
		}
		return time.Since(began)
	}
	var spent [4]time.Duration
	n := 0
	for b.Loop() {
		n++
		spent[0] += put(sample(n, 1, 0), 100)
		spent[1] += put(sample(n, 1, 7), 1)
		spent[2] += put(sample(n, 2, 7), 0)
		spent[3] += put(sample(n, 2, 7), 0)
	}
	for i, name := range []string{"create", "one-passage", "metadata", "same"} {
		b.ReportMetric(float64(spent[i].Microseconds())/1000/float64(n), name+"-ms")
		b.ReportMetric(float64(spent[i])/float64(spent[0]), name+"/create")
	}
}

// ready is a draft whose parts are made already.
type ready struct{ document.Document }

func (r ready) Build(corpus.Corpus) (*document.Document, error) {
	r.Parts = append([]document.Part(nil), r.Parts...)
	return &r.Document, nil
}

package attribute_test

import (
	"fmt"
	"testing"

	"quarry/internal/corpus/attribute"
)

// BenchmarkStats counts four attributes over 100,000 parts of 200 documents, without the database.
func BenchmarkStats(b *testing.B) {
	w := newWorld()
	for i := range 200 {
		parts := make([]string, 500)
		for j := range parts {
			parts[j] = fmt.Sprintf(`{"kind":"k%d","marks":[%d],"lang":"eng","section":%d,"offset":%d,"len":60,"title":"A section","breadcrumb":["a","b"]}`, j%7, i*500+j, j/10, j*60)
		}
		w.add(fmt.Sprintf(`{"year":%d,"ok":true,"note":"nothing of interest"}`, 1900+i), parts...)
	}
	s := attribute.New(w, w, w, nil)
	for b.Loop() {
		if _, err := s.Stats(b.Context(), attribute.Query{Corpus: "c", MaxValues: 100}); err != nil {
			b.Fatal(err)
		}
	}
}

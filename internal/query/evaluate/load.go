package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"quarry/internal/background"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/draft"
	"quarry/internal/corpus/ingest"
)

// Ingester adds documents; ingest.Service is one.
type Ingester interface {
	Create(ctx context.Context, corpusKey string, d document.Draft, o ingest.Options) (*ingest.Added, error)
}

// Load indexes the documents of d, each as one part under its title, the unit that these collections judge. Documents
// without any text are left out: no query could find them. Load calls step after each document, from one goroutine.
func Load(ctx context.Context, in Ingester, corpusKey string, d *Dataset, step func()) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * background.Cores())
	done := make(chan struct{}, len(d.Documents))
	for _, r := range d.Documents {
		group.Go(func() error {
			defer func() { done <- struct{}{} }()
			draft, ok := r.draft()
			if !ok {
				return nil
			}
			if _, err := in.Create(ctx, corpusKey, draft, ingest.Options{Wait: ingest.Durable}); err != nil {
				return fmt.Errorf("document %s: %w", r.ID, err)
			}
			return nil
		})
		for len(done) > 0 {
			<-done
			step()
		}
	}
	return group.Wait()
}

// draft returns the record as a document of one part. A title without text becomes the text.
func (r Record) draft() (*draft.Core, bool) {
	title, text := strings.TrimSpace(r.Title), strings.TrimSpace(r.Text)
	if text == "" {
		title, text = "", title
	}
	if text == "" {
		return nil, false
	}
	d := &draft.Core{ID: r.ID, Parts: []draft.CorePart{{Text: text}}}
	if title != "" {
		d.Metadata, _ = json.Marshal(map[string]string{"title": title}) // strings always encode
	}
	return d, true
}

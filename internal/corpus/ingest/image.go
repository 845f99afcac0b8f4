package ingest

import (
	"fmt"

	"quarry/internal/corpus/document"
	"quarry/internal/extract"
	"quarry/internal/extract/outline"
)

// images are the pictures of a file that its document keeps, in reading order. Another process has read them, and a mail has several
// files inside, so each is looked at and counted here again.
type images struct{ kept, bytes int }

// take returns the images of a section, and what is said of pictures that are not kept.
func (m *images) take(in *extract.Section) (kept []document.Image, rest string) {
	for i := range in.Pictures {
		p := &in.Pictures[i]
		if m.kept == outline.MaxPictures || len(p.Data) > outline.MaxPictureBytes-m.bytes || !p.Identify() {
			if words := p.Words(); words != "" {
				rest += "\n\n" + words
			}
			continue
		}
		m.kept++
		m.bytes += len(p.Data)
		kept = append(kept, document.Image{
			ID: fmt.Sprintf("image_%d", m.kept), Title: p.Title, Caption: p.Caption, Description: p.Description, MimeType: p.MIME, Data: p.Data, Page: p.Page,
		})
	}
	return kept, rest
}

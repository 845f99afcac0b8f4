package ingest

import (
	"crypto/sha256"
	"fmt"

	"quarry/internal/corpus/document"
	"quarry/internal/extract"
	"quarry/internal/extract/outline"
)

// images are the pictures of a file that its document keeps, in reading order. Another process has read them, and a mail has several
// files inside, as a book has chapters, so each is looked at and counted here again.
type images struct {
	seen  map[[sha256.Size]byte]string // what is said of each that is kept
	bytes int
}

// take returns the images of a section, and what is said of pictures that are not kept.
func (m *images) take(in *extract.Section) (kept []document.Image, rest string) {
	for i := range in.Pictures {
		p := &in.Pictures[i]
		sum, words := sha256.Sum256(p.Data), p.Words()
		before, again := m.seen[sum]
		switch {
		case words == "" && again, again && words == before:
		case again, len(m.seen) == outline.MaxPictures, len(p.Data) > outline.MaxPictureBytes-m.bytes, !p.Identify():
			if words != "" {
				rest += "\n\n" + words
			}
		default:
			if m.seen == nil {
				m.seen = map[[sha256.Size]byte]string{}
			}
			m.seen[sum] = words
			m.bytes += len(p.Data)
			kept = append(kept, document.Image{
				ID: fmt.Sprintf("image_%d", len(m.seen)), Title: p.Title, Caption: p.Caption, Description: p.Description, MimeType: p.MIME, Data: p.Data, Page: p.Page,
			})
		}
	}
	return kept, rest
}

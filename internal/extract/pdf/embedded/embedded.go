// Package embedded keeps the pictures that a PDF shows beside its text and stores as what they are, JPEG. Others are pixels in
// a form of PDF's own.
package embedded

import (
	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/scan"
	"quarry/internal/extract/pdf/syntax"
)

// Pictures are those of a file, by page. The zero value has none.
type Pictures struct {
	all   []outline.Picture
	seen  map[*syntax.Stream]bool
	bytes int
}

// Add adds the pictures that a page draws, each when it is drawn first. Pages are numbered from 1 and come in order.
func (p *Pictures) Add(f *syntax.File, drawn []scan.Image, page int) {
	if p.seen == nil {
		p.seen = map[*syntax.Stream]bool{}
	}
	for _, i := range drawn {
		if i.Stream == nil || p.seen[i.Stream] || f.Budget.Err() != nil {
			continue
		}
		p.seen[i.Stream] = true
		data, format, _, err := f.Unwrap(i.Stream)
		if err != nil || format != "DCTDecode" && format != "DCT" || len(data) > outline.MaxPictureBytes-p.bytes {
			continue
		}
		p.bytes += len(data)
		p.all = append(p.all, outline.Picture{Page: page, Data: data})
	}
}

// Place puts the pictures of the pages before another one into the open section of b.
func (p *Pictures) Place(b *outline.Builder, before int) {
	for len(p.all) > 0 && p.all[0].Page < before {
		b.Picture(p.all[0])
		p.all = p.all[1:]
	}
}

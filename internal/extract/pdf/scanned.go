package pdf

import (
	"fmt"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/font"
	"quarry/internal/extract/pdf/pagetree"
	"quarry/internal/extract/pdf/scan"
	"quarry/internal/extract/pdf/syntax"
)

// scanned are the pages of a file that are pictures.
type scanned struct {
	left []outline.Scan       // nobody has read them
	read []outline.Recognised // by page
}

// add adds a page, which may have been read.
func (s *scanned) add(page int, o outline.Options) {
	at := outline.Scan{Page: page}
	if text, ok := o.Read(at); ok {
		s.read = append(s.read, outline.Recognised{Scan: at, Text: text})
		return
	}
	s.left = append(s.left, at)
}

// between adds the pages before another one, and returns the rest.
func between(b *outline.Builder, scans []outline.Recognised, page int) []outline.Recognised {
	for len(scans) > 0 && scans[0].Page < page {
		b.Scanned(scans[0].Page, scans[0].Text)
		scans = scans[1:]
	}
	return scans
}

// Raster returns one picture of those on a page, from 1. Its errors are those of Read.
func Raster(data []byte, page int) (r *outline.Raster, err error) {
	defer recovered(&err)
	f, err := syntax.Open(data, syntax.NewBudget(syntax.MaxTime))
	if err != nil {
		return nil, err
	}
	pages, _ := pagetree.Read(f)
	if page < 1 || page > len(pages) {
		return nil, fmt.Errorf("%w: it has no page %d", outline.ErrUnparsable, page)
	}
	p := paint(f, &pages[page-1], map[syntax.Ref]*font.Font{}, false)
	r, err = scan.Raster(f, p.images)
	if err != nil {
		return nil, err
	}
	if r.Grey == nil {
		r.PDF, r.Page = data, page
	}
	return r, nil
}

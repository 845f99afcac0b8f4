// Package pdf reads the text of PDF files (ISO 32000) into a document tree: text in reading order, headings as sections,
// and the page of each piece.
//
// Package pdf/syntax reads the objects of a file, pdf/pagetree finds its pages, pdf/font its fonts and pdf/info what it says of itself. This package interprets
// the content of pages (paint.go), and recognises lines and columns (layout.go, column.go), headers and footers
// (furniture.go), paragraphs (paragraph.go) and headings (heading.go). Package pdf/table finds tables, where these are wanted:
// pdf/path reads the lines that pages draw, and tabular.go puts the tables in their places. Text in pictures is not recognised here: pages
// that are nothing else are told apart, and package pdf/scan makes one picture of each. All functions are safe for concurrent use.
package pdf

import (
	"cmp"
	"fmt"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/embedded"
	"quarry/internal/extract/pdf/font"
	"quarry/internal/extract/pdf/info"
	"quarry/internal/extract/pdf/pagetree"
	"quarry/internal/extract/pdf/path"
	"quarry/internal/extract/pdf/scan"
	"quarry/internal/extract/pdf/syntax"
)

// Read parses a file within the limits of package syntax. Its errors wrap outline.ErrUnparsable, or are
// outline.ErrProtected.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	return read(data, o, syntax.NewBudget(syntax.MaxTime))
}

func read(data []byte, o outline.Options, budget *syntax.Budget) (doc *outline.Document, err error) {
	defer recovered(&err)
	return parse(data, o, budget)
}

// recovered refuses a file that makes the reader panic like any other malformed file.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", outline.ErrUnparsable, r)
	}
}

func parse(data []byte, o outline.Options, budget *syntax.Budget) (*outline.Document, error) {
	f, err := syntax.Open(data, budget)
	if err != nil {
		return nil, err
	}
	pages, numbers := pagetree.Read(f)
	fonts := map[syntax.Ref]*font.Font{}
	sheets := make([]sheet, len(pages))
	letters := 0
	var scans scanned
	var pictures embedded.Pictures
	for i := range pages {
		p := paint(f, &pages[i], fonts, o.Tables)
		letters += len(p.glyphs)
		sheets[i] = arrange(p.glyphs, p.ruler, budget)
		if len(sheets[i].lines)+len(sheets[i].tables) > 0 {
			if o.Pictures {
				pictures.Add(f, p.images, i+1)
			}
		} else if scan.Worth(f, p.images) {
			scans.add(i+1, o)
		}
	}
	if err := budget.Err(); err != nil {
		return nil, err
	}
	if len(sheets) == 0 {
		return nil, fmt.Errorf("%w: it has no pages", outline.ErrUnparsable)
	}
	if letters == 0 && len(scans.left)+len(scans.read) == 0 { // letters may be drawn as lines
		for i := range pages {
			scans.add(i+1, o)
		}
	}
	dropFurniture(sheets)
	for i := range sheets {
		sheets[i].place()
	}
	paragraphs := tabulate(compose(sheets, budget))
	marks := info.Bookmarks(f, numbers)
	doc := &outline.Document{Metadata: info.Properties(f)}
	doc.Metadata["Page-Count"] = len(sheets)
	doc.Scans = scans.left
	if o.Tables {
		doc.Searched = len(sheets)
	}
	b := &outline.Builder{Options: o}
	build(b, paragraphs, marks, scans.read, &pictures)
	doc.Sections = b.Sections()
	title, _ := doc.Metadata["title"].(string)
	doc.Title = cmp.Or(title, cover(paragraphs), b.Title())
	return doc, budget.Err()
}

// paint interprets the content of a page, rotated as readers display it, for its glyphs, its images, and the lines that it draws where
// these are wanted.
func paint(f *syntax.File, pg *pagetree.Page, fonts map[syntax.Ref]*font.Font, lines bool) *painter {
	p := &painter{file: f, fonts: fonts}
	if lines {
		p.ruler = path.New(f.Budget)
	}
	p.stretch, p.pen.Width = 1, 1
	switch ((pg.Rotate%360 + 360) % 360) / 90 {
	case 0:
		p.ctm = unit
	case 1:
		p.ctm = matrix{a: 0, b: -1, c: 1, d: 0}
	case 2:
		p.ctm = matrix{a: -1, d: -1}
	case 3:
		p.ctm = matrix{a: 0, b: 1, c: -1, d: 0}
	}
	p.tm, p.line = unit, unit
	p.run(pg.Content(f), &resources{dict: pg.Resources})
	return p
}

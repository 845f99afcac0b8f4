// Package pdf reads the text of PDF files (ISO 32000) into a document tree: text in reading order, headings as sections,
// and the page of each piece.
//
// Package pdf/syntax reads the objects of a file, pdf/font its fonts and pdf/info what it says of itself. This package interprets
// the content of pages (paint.go), and recognises lines and columns (layout.go, column.go), headers and footers
// (furniture.go), paragraphs (paragraph.go) and headings (heading.go). Package pdf/table finds tables, where these are wanted:
// pdf/path reads the lines that pages draw, and tabular.go puts the tables in their places. Text in pictures is not recognised. All
// functions are safe for concurrent use.
package pdf

import (
	"cmp"
	"fmt"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/font"
	"quarry/internal/extract/pdf/info"
	"quarry/internal/extract/pdf/path"
	"quarry/internal/extract/pdf/syntax"
)

// Read parses a file within the limits of package syntax. Its errors wrap outline.ErrUnparsable, or are
// outline.ErrProtected or outline.ErrNoText.
func Read(data []byte, o outline.Options) (*outline.Document, error) {
	return read(data, o, syntax.NewBudget(syntax.MaxTime))
}

func read(data []byte, o outline.Options, budget *syntax.Budget) (doc *outline.Document, err error) {
	defer func() { // a file that makes the reader panic is refused like any other malformed file
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("%w: %v", outline.ErrUnparsable, r)
		}
	}()
	return parse(data, o, budget)
}

func parse(data []byte, o outline.Options, budget *syntax.Budget) (*outline.Document, error) {
	f, err := syntax.Open(data, budget)
	if err != nil {
		return nil, err
	}
	t := &tree{file: f, seen: map[int]bool{}}
	t.walk(f.Root()["Pages"], inherited{}, 0)
	fonts := map[syntax.Ref]*font.Font{}
	sheets := make([]sheet, len(t.pages))
	letters := 0
	for i := range t.pages {
		glyphs, drawn := t.pages[i].paint(f, fonts, o.Tables)
		letters += len(glyphs)
		sheets[i] = arrange(glyphs, drawn, budget)
	}
	if err := budget.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(sheets) == 0:
		return nil, fmt.Errorf("%w: it has no pages", outline.ErrUnparsable)
	case letters == 0:
		return nil, outline.ErrNoText
	}
	dropFurniture(sheets)
	for i := range sheets {
		sheets[i].place()
	}
	paragraphs := tabulate(compose(sheets, budget))
	marks := info.Bookmarks(f, t.numbers)
	doc := &outline.Document{Metadata: info.Properties(f)}
	doc.Metadata["Page-Count"] = len(sheets)
	if o.Tables {
		doc.Searched = len(sheets)
	}
	b := build(paragraphs, marks)
	doc.Sections = b.Sections()
	title, _ := doc.Metadata["title"].(string)
	doc.Title = cmp.Or(title, cover(paragraphs), b.Title())
	return doc, budget.Err()
}

// page is a page and its inherited attributes.
type page struct {
	dict syntax.Dict
	inherited
}

// inherited are the attributes that pages inherit from nodes of the page tree (ISO 32000-1, 7.7.3.4).
type inherited struct {
	resources syntax.Dict
	rotate    int // degrees clockwise
}

// tree collects the pages of a file from its page tree.
type tree struct {
	file    *syntax.File
	pages   []page
	numbers map[int]int  // page numbers, from 1, by object number
	seen    map[int]bool // objects
}

// Limits of the page tree.
const (
	maxTree  = 64 // depth
	maxPages = 20_000
)

func (t *tree) walk(o syntax.Object, from inherited, depth int) {
	if ref, ok := o.(syntax.Ref); ok {
		if t.seen[ref.Num] {
			t.file.Budget.Refuse("its page tree is cyclic")
		}
		t.seen[ref.Num] = true
	}
	d := t.file.Dict(o)
	if depth > maxTree {
		t.file.Budget.Refuse("its page tree is more than %d deep", maxTree)
	}
	if d == nil || !t.file.Budget.Step() {
		return
	}
	if r := t.file.Dict(d["Resources"]); r != nil {
		from.resources = r
	}
	from.rotate = t.file.Int(d["Rotate"], from.rotate)
	if _, inner := d["Kids"]; inner {
		for _, k := range t.file.Array(d["Kids"]) {
			t.walk(k, from, depth+1)
		}
		return
	}
	if len(t.pages) == maxPages {
		t.file.Budget.Refuse("it has more than %d pages", maxPages)
		return
	}
	t.pages = append(t.pages, page{d, from})
	if ref, ok := o.(syntax.Ref); ok {
		if t.numbers == nil {
			t.numbers = map[int]int{}
		}
		t.numbers[ref.Num] = len(t.pages)
	}
}

// maxContent bounds the content of a page, in bytes. The size of the file does not bound it, even without filters: a page
// may refer to the same stream many times, and streams may overlap.
const maxContent = 64 << 20

// paint returns the glyphs of a page, rotated as readers display it, and the lines that it draws where these are wanted.
func (pg *page) paint(f *syntax.File, fonts map[syntax.Ref]*font.Font, lines bool) ([]glyph, *path.Ruler) {
	var data []byte
	content := f.Array(pg.dict["Contents"])
	if content == nil {
		content = syntax.Array{pg.dict["Contents"]}
	}
	for _, o := range content {
		s, ok := f.Get(o).(*syntax.Stream)
		if !ok {
			continue
		}
		part, err := f.Decode(s)
		if err != nil {
			continue
		}
		if len(data)+len(part) > maxContent {
			f.Budget.Refuse("the content of a page is more than %d MB", maxContent>>20)
			return nil, nil
		}
		data = append(append(data, part...), '\n')
	}
	p := &painter{file: f, fonts: fonts}
	if lines {
		p.ruler = path.New(f.Budget)
	}
	p.stretch, p.pen.Width = 1, 1
	switch ((pg.rotate%360 + 360) % 360) / 90 {
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
	p.run(data, &resources{dict: pg.resources})
	return p.glyphs, p.ruler
}

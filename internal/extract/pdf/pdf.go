// Package pdf reads the text of PDF files (ISO 32000) into a document tree: text in reading order, headings as sections,
// and the page of each piece.
//
// Package pdf/syntax reads the objects of a file, and pdf/font its fonts. This package interprets the content of pages
// (paint.go), and recognises lines and columns (layout.go, column.go), headers and footers (furniture.go), paragraphs
// (paragraph.go) and headings (heading.go). It neither recognises text in pictures nor tables. All functions are safe for
// concurrent use.
package pdf

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"quarry/internal/extract/outline"
	"quarry/internal/extract/pdf/font"
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

func parse(data []byte, _ outline.Options, budget *syntax.Budget) (*outline.Document, error) {
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
		glyphs := t.pages[i].paint(f, fonts)
		letters += len(glyphs)
		sheets[i] = arrange(glyphs, budget)
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
	paragraphs := compose(sheets, budget)
	marks := bookmarks(f, t.numbers)
	doc := &outline.Document{Metadata: properties(f)}
	doc.Metadata["Page-Count"] = len(sheets)
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

// paint returns the glyphs of a page, rotated as readers display it.
func (pg *page) paint(f *syntax.File, fonts map[syntax.Ref]*font.Font) []glyph {
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
			return nil
		}
		data = append(append(data, part...), '\n')
	}
	p := &painter{file: f, fonts: fonts}
	p.stretch = 1
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
	return p.glyphs
}

// text decodes a text string (ISO 32000-1, 7.9.2.2): UTF-16 or UTF-8 if it has a byte order mark, else PDFDocEncoding,
// for which Windows-1252 is a close approximation.
func text(s syntax.String) string {
	switch {
	case strings.HasPrefix(string(s), "\xFE\xFF"), strings.HasPrefix(string(s), "\xFF\xFE"):
		units := make([]uint16, 0, len(s)/2)
		for i := 2; i+1 < len(s); i += 2 {
			u := uint16(s[i])<<8 | uint16(s[i+1])
			if s[0] == 0xFF {
				u = u<<8 | u>>8
			}
			units = append(units, u)
		}
		return string(utf16.Decode(units))
	case strings.HasPrefix(string(s), "\xEF\xBB\xBF"):
		return strings.ToValidUTF8(string(s[3:]), "\uFFFD")
	}
	out, err := charmap.Windows1252.NewDecoder().String(string(s))
	if err != nil || !utf8.ValidString(out) {
		return ""
	}
	return out
}

// infoKeys maps the entries of the information dictionary to keys of metadata, which are the same for every format.
var infoKeys = map[syntax.Name]string{
	"Title": "title", "Author": "Author", "Subject": "subject", "Keywords": "keywords", "Creator": "Creator-Tool",
	"Producer": "Producer", "CreationDate": "date", "ModDate": "modified",
}

// properties returns the metadata of the file.
func properties(f *syntax.File) map[string]any {
	m := map[string]any{}
	info := f.Dict(f.Trailer["Info"])
	for name, key := range infoKeys {
		s, ok := f.Get(info[name]).(syntax.String)
		if !ok {
			continue
		}
		value := oneLine(strings.ToValidUTF8(strings.ReplaceAll(text(s), "\x00", ""), "\uFFFD"))
		if key == "date" || key == "modified" {
			value = date(value)
		}
		if key == "title" && !meaningful(value) {
			value = ""
		}
		if value != "" {
			m[key] = value
		}
	}
	if s, ok := f.Get(f.Root()["Lang"]).(syntax.String); ok && s != "" {
		m["Content-Language"] = text(s)
	}
	return m
}

// meaningful reports whether a title is likely to come from a person. Programs put in names of files or their own name.
func meaningful(title string) bool {
	low := strings.ToLower(title)
	for _, junk := range []string{"untitled", "microsoft word", "microsoft powerpoint", "powerpoint presentation", "slide 1"} {
		if strings.HasPrefix(low, junk) {
			return false
		}
	}
	for _, end := range []string{".doc", ".docx", ".indd", ".dvi", ".tex", ".pdf", ".qxd", ".ppt", ".pptx", ".odt", ".rtf", ".txt", ".html"} {
		if strings.HasSuffix(low, end) {
			return false
		}
	}
	return true
}

// date converts a date such as "D:20240203040506+01'00'" (ISO 32000-1, 7.9.4) to RFC 3339, or returns "".
func date(s string) string {
	s = strings.ReplaceAll(strings.TrimPrefix(s, "D:"), "'", "")
	for _, layout := range []string{"20060102150405-0700", "20060102150405Z0000", "20060102150405Z", "20060102150405", "200601021504", "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

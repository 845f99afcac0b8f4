// Package outline defines the document tree that every parser under extract builds: sections nested by their headings,
// with paragraphs and tables. Packages outside of extract use the aliases that package extract declares.
package outline

import (
	"cmp"
	"errors"
	"strings"
)

// ErrUnparsable is returned for a file that is not a valid document of its format.
var ErrUnparsable = errors.New("the file could not be parsed and may be a corrupt archive or a malformed document")

// ErrProtected is returned for a file that needs a password.
var ErrProtected = errors.New("the file is protected by a password; upload a copy without one")

// ErrNoText is returned for a file whose text, if it has any, is in pictures.
var ErrNoText = errors.New("the file needs OCR (text recognition): it has no text layer, only what may be seen on its pages")

// Options are what a caller may choose about the reading of a file. They are plain values, so that they reach a reader in
// another process as they are.
type Options struct {
	// Tables has the tables found that a format does not declare: those of PDF, which only has text in places.
	Tables bool
	// Pictures has embedded pictures kept.
	Pictures bool
	// Recognised are the texts of pages that are pictures, as far as somebody has read them; see Document.Scans.
	Recognised []Recognised
}

// Document is the content of a file.
type Document struct {
	// Title is the title that the file declares, or else its first heading of the highest level, which remains the title
	// of its section as well.
	Title string
	// Metadata holds title, Content-Type, Content-Language, Author and other metadata of the format. JSON can represent
	// the values.
	Metadata map[string]any
	// Searched is the number of pages that were searched for tables, which Options.Tables asks for.
	Searched int
	// Scans are the pages that are pictures and whose texts Options.Recognised does not have, in reading order.
	Scans []Scan
	// Sections are in reading order. Text before the first heading is a section of level 0 without a title.
	Sections []Section
}

// Section is a heading and the content below it.
type Section struct {
	Title string
	// Level is the level of the heading, 1 to 6, or 0 without one.
	Level int
	// Page is the page on which the section begins, from 1, or 0 for files without pages.
	Page int
	// Pages are the places in Text where pages begin, in ascending order.
	Pages []Mark
	// Text holds the paragraphs, separated by blank lines. List items are lines that begin with their bullet or number.
	// Tables are not part of it.
	Text string
	// Code are the places in Text of code, which is one piece however it reads, in ascending order.
	Code     []Range
	Tables   []Table
	Pictures []Picture
	Sections []Section
}

// Mark is the beginning of a page in a text: from byte At on, the text is on this page. OCR is set where the page is a picture, and its
// text recognised.
type Mark struct {
	At, Page int
	OCR      bool
}

// Range is a place in a text, in bytes; End is exclusive.
type Range struct{ Start, End int }

// Table is a grid of cells. A cell that spans several places is repeated in each.
type Table struct {
	Page          int // on which it begins, 0 for files without pages
	Title         string
	Headers, Rows [][]string
}

// Builder builds sections from headings, paragraphs and tables that are added in reading order. The zero Builder is ready
// to use. It is not safe for concurrent use.
type Builder struct {
	// Options are those of the reader.
	Options Options
	// File returns the picture at an address that a page has, where the file has the picture beside the page; nil where it has none.
	// It is nil for files without any.
	File func(address string) []byte

	root  node
	stack []*node // open sections, outermost first
	lines bool    // the last addition is a line that others may follow
	page  int     // of the next addition, 0 for files without pages
	ocr   bool    // the next addition was recognised

	pictures pictures
}

type node struct {
	section  Section
	text     strings.Builder
	children []*node
}

// Heading begins a section, nested in the nearest open section with a lower level number. Levels are clipped to 1 to 6.
func (b *Builder) Heading(level int, title string) {
	b.lines, b.pictures.last = false, nil
	level = min(max(level, 1), 6)
	for len(b.stack) > 0 && b.stack[len(b.stack)-1].section.Level >= level {
		b.stack = b.stack[:len(b.stack)-1]
	}
	parent := &b.root
	if len(b.stack) > 0 {
		parent = b.stack[len(b.stack)-1]
	}
	n := &node{section: Section{Title: title, Level: level, Page: b.page}}
	parent.children = append(parent.children, n)
	b.stack = append(b.stack, n)
}

// Page sets the page of what is added next.
func (b *Builder) Page(n int) { b.page, b.ocr = n, false }

// Paragraph adds text to the open section, unless it is only white space. breaks are the pages that begin inside it.
func (b *Builder) Paragraph(text string, breaks ...Mark) {
	b.lines = false
	b.add(text, "\n\n", breaks)
}

// Code adds a block of code to the open section, unless it is only white space.
func (b *Builder) Code(text string) {
	b.lines = false
	if b.add(text, "\n\n", nil); strings.TrimSpace(text) != "" {
		n := b.open()
		n.section.Code = append(n.section.Code, Range{n.text.Len() - len(text), n.text.Len()})
	}
}

// Line adds a list item, unless it is only white space. Consecutive lines form one paragraph.
func (b *Builder) Line(text string, breaks ...Mark) {
	if strings.TrimSpace(text) == "" {
		return
	}
	sep := "\n\n"
	if b.lines {
		sep = "\n"
	}
	b.add(text, sep, breaks)
	b.lines = true
}

// Break ends a paragraph of lines.
func (b *Builder) Break() { b.lines = false }

// Table adds a table to the open section.
func (b *Builder) Table(t Table) {
	b.lines, b.pictures.last = false, nil
	n := b.open()
	if t.Page == 0 {
		t.Page = b.page
	}
	n.section.Tables = append(n.section.Tables, t)
}

// Append adds sections of another document, their headings deeper by so many levels. Those of level 0 go on with the open section.
func (b *Builder) Append(all []Section, deeper int) {
	for _, s := range all {
		inner := s.Sections
		if s.Sections = nil; s.Level > 0 {
			b.Heading(s.Level+deeper, s.Title)
			n := b.open()
			n.text.WriteString(s.Text)
			s.Level, s.Text = n.section.Level, ""
			n.section = s
		} else {
			b.Paragraph(s.Text)
			n := b.open()
			start := n.text.Len() - len(s.Text)
			for _, c := range s.Code {
				n.section.Code = append(n.section.Code, Range{start + c.Start, start + c.End})
			}
			n.section.Tables = append(n.section.Tables, s.Tables...)
			n.section.Pictures = append(n.section.Pictures, s.Pictures...)
		}
		b.Append(inner, deeper)
	}
}

// Sections returns the tree built so far.
func (b *Builder) Sections() []Section {
	var out []Section
	if b.root.text.Len() > 0 || len(b.root.section.Tables)+len(b.root.section.Pictures) > 0 {
		lead := b.root.section
		lead.Text = b.root.text.String()
		out = append(out, lead)
	}
	return append(out, tree(b.root.children)...)
}

// Document returns the tree built so far with its metadata, from which it takes the title if there is one.
func (b *Builder) Document(metadata map[string]any) *Document {
	title, _ := metadata["title"].(string)
	return &Document{Title: cmp.Or(title, b.Title()), Metadata: metadata, Sections: b.Sections()}
}

// Title returns the first heading of the highest level that occurs.
func (b *Builder) Title() string {
	best := Section{Level: 7}
	for _, n := range b.root.children {
		if n.section.Level < best.Level {
			best = n.section
		}
	}
	return best.Title
}

func (b *Builder) open() *node {
	if len(b.stack) == 0 {
		return &b.root
	}
	return b.stack[len(b.stack)-1]
}

func (b *Builder) add(text, sep string, breaks []Mark) {
	if strings.TrimSpace(text) == "" {
		return
	}
	b.pictures.last = nil
	n := b.open()
	if n.text.Len() > 0 {
		n.text.WriteString(sep)
	}
	n.mark(Mark{n.text.Len(), b.page, b.ocr})
	for _, m := range breaks {
		n.mark(Mark{n.text.Len() + m.At, m.Page, m.OCR})
		b.page = m.Page
	}
	n.text.WriteString(text)
}

// mark records that a page begins, unless that follows from the last mark.
func (n *node) mark(m Mark) {
	marks := n.section.Pages
	if last := len(marks) - 1; last >= 0 && (marks[last].Page == m.Page || marks[last].At >= m.At && marks[last].Page > m.Page) || m.Page == 0 {
		return
	}
	n.section.Pages = append(marks, m)
}

// tree converts nodes to sections. Its depth is at most six, the number of levels.
func tree(nodes []*node) []Section {
	var out []Section
	for _, n := range nodes {
		s := n.section
		s.Text = n.text.String()
		s.Sections = tree(n.children)
		out = append(out, s)
	}
	return out
}

// OneLine returns text with every run of white space as one space, and none around it.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

package draft

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/metadata"
	"quarry/internal/expr/filter"
	"quarry/internal/fault"
	"quarry/internal/opt"
	"quarry/internal/text/chunk"
	"quarry/internal/text/sentence"
)

// place is what the parts of a section inherit from where it stands.
type place struct {
	path       string
	number     int             // value of the key "section"
	user       metadata.Object // the client's metadata, nearest section first
	breadcrumb []string        // titles of the sections around it, outermost first
	title      string          // its own, "" when it has none
	inForce    string          // its own title or the nearest one around it
	depth      int
	page       int  // of a file with pages, else 0
	ocr        bool // the text of the page was recognised
}

// structure walks a structured document in reading order.
type structure struct {
	*builder
	title    string
	chunking Chunking
	dims     []float64
	seen     int // sections so far
}

// Build implements document.Draft.
func (cmd Structured) Build(c corpus.Corpus) (*document.Document, error) {
	b, err := newBuilder(&c, cmd.ID)
	if err != nil {
		return nil, err
	}
	own := b.metadata("metadata", filter.Document, cmd.Metadata)
	found, err := metadata.Parse(cmd.Extracted)
	if err != nil {
		return nil, fmt.Errorf("read extracted metadata: %w", err)
	}
	b.doc.Metadata = own.Over(found).Encode()
	if m := cmd.Chunking.MaxChars; m != 0 && m < MinChunkChars {
		b.bad("chunking_strategy.max_chars_per_chunk", "must be at least %d, not %d", MinChunkChars, m)
		return b.finish()
	}
	if len(cmd.Sections) == 0 {
		b.bad("sections", "must have at least one section")
	}
	s := &structure{builder: b, chunking: cmd.Chunking, dims: b.dimensions("custom_dimensions", cmd.Dimensions)}
	if !blank(cmd.Title) {
		s.title, b.doc.Title = cmd.Title, cmd.Title
		if !cmd.TitleInText {
			s.titlePart(place{path: "title"}, cmd.Title)
		}
	}
	if !blank(cmd.Description) {
		s.textParts(place{path: "description"}, cmd.Description, nil)
	}
	for i := range cmd.Sections {
		s.section(place{}, i, &cmd.Sections[i])
	}
	b.doc.Digest = cmd.digest()
	return b.finish()
}

// section adds the parts of one section and of those inside it.
func (s *structure) section(around place, i int, sec *Section) {
	if s.stopped() {
		return
	}
	s.seen++
	at := s.enter(around, i, sec)
	if at.depth > maxDepth {
		s.bad(at.path, "sections may be nested at most %d deep", maxDepth)
		return
	}
	if blank(sec.Text) && blank(sec.Title) && len(sec.Sections)+len(sec.Tables)+len(sec.Images) == 0 {
		s.bad(at.path+".text", "must not be empty in a section without title, sections, tables or images")
		return
	}
	if at.title != "" {
		s.titlePart(at, at.title)
	}
	if !blank(sec.Text) {
		s.textParts(at, sec.Text, sec.Code, sec.Pages...)
	}
	for j := range sec.Tables {
		s.table(at, fmt.Sprintf("%s.tables[%d]", at.path, j), sec.Tables[j])
	}
	for j := range sec.Images {
		s.image(at, fmt.Sprintf("%s.images[%d]", at.path, j), sec.Images[j])
	}
	for j := range sec.Sections {
		s.section(at, j, &sec.Sections[j])
	}
}

// enter returns the place of the section that is number i inside around.
func (s *structure) enter(around place, i int, sec *Section) place {
	at := place{
		path:       fault.Join(around.path, fmt.Sprintf("sections[%d]", i)),
		number:     s.sectionNumber(sec.ID),
		breadcrumb: around.breadcrumb,
		inForce:    around.inForce,
		depth:      around.depth + 1,
		page:       sec.Page,
	}
	if around.title != "" {
		at.breadcrumb = append(slices.Clip(around.breadcrumb), around.title)
	}
	if !blank(sec.Title) {
		at.title, at.inForce = sec.Title, sec.Title
	}
	at.user = s.metadata(at.path+".metadata", filter.Part, sec.Metadata).Over(around.user)
	return at
}

func (s *structure) sectionNumber(id opt.Field[int32]) int {
	if n, ok := id.Get(); ok {
		return int(n)
	}
	return s.seen
}

// serviceKeys returns the keys that the service adds, lang apart; a client's key of the same name wins.
func (p *place) serviceKeys() metadata.Object {
	o := metadata.Object{}.With("section", metadata.Int(p.number))
	if p.title != "" {
		o = o.With("title", metadata.String(p.title))
	}
	if len(p.breadcrumb) > 0 {
		crumbs := []byte{'['}
		for i, t := range p.breadcrumb {
			if i > 0 {
				crumbs = append(crumbs, ',')
			}
			crumbs = append(crumbs, metadata.String(t)...)
		}
		o = o.With("breadcrumb", append(crumbs, ']'))
	}
	if p.page > 0 {
		o = o.With("page", metadata.Int(p.page))
	}
	if p.ocr {
		o = o.With("ocr", json.RawMessage("true"))
	}
	return o
}

// base returns the metadata that all text parts of a section share, without the keys that each part sets itself.
func (p *place) base() metadata.Object {
	return p.user.Over(p.serviceKeys()).Without("offset", "len", "is_title")
}

func (s *structure) titlePart(at place, title string) {
	meta := at.base().With("offset", metadata.Int(0)).With("len", metadata.Int(utf8.RuneCountInString(title))).
		With("is_title", json.RawMessage("true"))
	s.add(at.path, unfinished{document.Part{Text: title, IsTitle: true, Dimensions: s.dims, Gap: " "}, meta})
}

// textParts cuts text into parts. The gap of a part is the text between it and the one before, its page the one on
// which it begins.
func (s *structure) textParts(at place, text string, code []sentence.Span, pages ...PageMark) {
	base := at.base()
	heading := document.JoinTitles(s.title, at.inForce)
	cursor := cutter{text: text}
	for i, c := range chunk.Split(text, chunk.Strategy{MaxChars: s.chunking.MaxChars, Code: code}) {
		if s.stopped() {
			return
		}
		gap := cursor.skip(c.Offset)
		if i == 0 {
			gap = " "
		}
		for len(pages) > 0 && pages[0].At <= cursor.bytes {
			if pages[0].Page != at.page || pages[0].OCR != at.ocr {
				at.page, at.ocr = pages[0].Page, pages[0].OCR
				base = at.base()
			}
			pages = pages[1:]
		}
		cursor.skip(c.Offset + c.Len)
		meta := base.With("offset", metadata.Int(c.Offset)).With("len", metadata.Int(c.Len))
		s.add(at.path, unfinished{document.Part{Text: c.Text, Heading: heading, Dimensions: s.dims, Gap: gap}, meta})
	}
}

// cutter turns ascending code point offsets into slices of a text in one pass over it.
type cutter struct {
	text  string
	bytes int
	runes int
}

// skip moves on to the code point offset to and returns the text passed over.
func (c *cutter) skip(to int) string {
	from := c.bytes
	for c.runes < to && c.bytes < len(c.text) {
		_, n := utf8.DecodeRuneInString(c.text[c.bytes:])
		c.bytes += n
		c.runes++
	}
	return c.text[from:c.bytes]
}

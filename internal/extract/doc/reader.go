package doc

import (
	"slices"
	"strings"

	"quarry/internal/extract/outline"
)

// Characters that are signs (MS-DOC, 2.4.2 and 2.8.25).
const (
	charPicture, charNote, charCell, charDrawing    = 0x01, 0x02, 0x07, 0x08
	charTab, charLine, charPage, charParagraph      = 0x09, 0x0B, 0x0C, 0x0D
	charColumn, charField, charResult, charFieldEnd = 0x0E, 0x13, 0x14, 0x15
	charHyphen, charSoftHyphen, charSymbol          = 0x1E, 0x1F, 0x28
)

// reader reads the texts of a document in their order.
type reader struct {
	*file
	out      *outline.Builder
	counters map[int]*counter
	notes    map[int]string            // by the place of the sign that refers to them
	boxes    []anchored                // ascending
	floating map[int][]outline.Picture // by the place that they are anchored to
	inline   map[uint32]bool           // the places in the stream of data of pictures in lines that were read
	titled   bool                      // there was a paragraph of style Title, below which headings are nested
	caption  string                    // the last paragraph if it is a caption, perhaps of a table that follows
}

// anchored is the text of a box and the place that it is anchored to.
type anchored struct {
	at   int
	text []block
}

// block is a paragraph or a table.
type block struct {
	par   *paragraph
	table *table
}

// paragraph is a paragraph and what hangs from it.
type paragraph struct {
	properties
	text  strings.Builder
	mark  rune // that ends it
	gone  bool // its mark was deleted
	notes []string
	after []block // text boxes
	drawn []outline.Picture
}

// plain returns the text of a block as lines without structure.
func (b block) plain() (lines []string) {
	if p := b.par; p != nil {
		if t := strings.TrimSpace(p.text.String()); t != "" {
			lines = append(lines, t)
		}
		for _, in := range p.after {
			lines = append(lines, in.plain()...)
		}
		lines = append(lines, p.said()...)
		return append(lines, p.notes...)
	}
	for _, row := range b.table.rows {
		for _, cell := range row.cells {
			for _, in := range cell {
				lines = append(lines, in.plain()...)
			}
		}
	}
	return lines
}

// read adds the document.
func (r *reader) read() error {
	r.notes, r.floating, r.inline = map[int]string{}, map[int][]outline.Picture{}, map[uint32]bool{}
	r.readNotes(partFootnoteRefs, partFootnotes, footnotes)
	r.readNotes(partEndnoteRefs, partEndnotes, endnotes)
	r.readBoxes()
	r.readFloating()
	from, to := r.start(body)
	for _, b := range r.blocks(from, to) {
		r.put(b)
	}
	for _, box := range r.boxes { // of no paragraph
		for _, b := range box.text {
			r.put(b)
		}
	}
	r.flushCaption()
	return nil
}

// readNotes reads the texts of notes.
func (r *reader) readNotes(refs, part, text int) {
	const size = 2
	signs, borders := r.ranges(refs, size, body), r.ranges(part, 0, text)
	for i := range min(len(signs), len(borders)) - 1 {
		var lines []string
		for _, b := range r.blocks(borders[i], borders[i+1]) {
			lines = append(lines, b.plain()...)
		}
		r.notes[signs[i]] = strings.Join(lines, "\n")
	}
}

// anchors returns where the shapes are anchored, by their ids (MS-DOC, 2.8.37).
func (r *reader) anchors() map[uint32]int {
	const size = 26
	places, at := r.ranges(partAnchors, size, body), map[uint32]int{}
	for i := range len(places) - 1 {
		at[u32(r.part(partAnchors), 4*len(places)+size*i)] = places[i]
	}
	return at
}

// readBoxes reads the texts of text boxes, and where the shapes that they are in are anchored. The last box of the list stands for none.
func (r *reader) readBoxes() {
	const boxSize = 22
	at, borders := r.anchors(), r.ranges(partBoxes, boxSize, boxes)
	_, end := r.start(body)
	for i := range len(borders) - 2 {
		place, known := at[u32(r.part(partBoxes), 4*len(borders)+boxSize*i+14)]
		if !known {
			place = end
		}
		if text := r.blocks(borders[i], borders[i+1]); len(text) > 0 {
			r.boxes = append(r.boxes, anchored{place, text})
		}
	}
	slices.SortStableFunc(r.boxes, func(a, b anchored) int { return a.at - b.at })
}

// scan is the reading of one text.
type scan struct {
	*reader
	out     []block
	now     *paragraph
	fields  []bool // open ones: whether their results have begun
	codes   int    // how many of them have not
	run     run    // the characters that were looked at last, with their properties
	piece   *piece
	look    look
	tables  []*table // open ones, the outermost first
	started bool
}

// blocks reads a stretch of the document.
func (r *reader) blocks(from, to int) []block {
	s := &scan{reader: r, now: &paragraph{}}
	r.walk(from, to, s.char)
	if s.now.text.Len() > 0 {
		s.now.mark = charParagraph
		s.block(s.now)
	}
	for len(s.tables) > 0 {
		s.closeTable()
	}
	return s.out
}

// char reads a character.
func (s *scan) char(cp int, c rune, place uint32, p *piece) {
	if !s.started || p != s.piece || place < s.run.from || place >= s.run.to {
		s.started, s.run, s.piece = true, s.characters.at(place), p
		s.look = s.character(s.run, p, s.paragraphs.at(place).style)
	}
	shown := s.codes == 0 && !s.look.deleted && !s.look.hidden
	switch c {
	case charField:
		s.fields = append(s.fields, false)
		s.codes++
	case charResult:
		if n := len(s.fields); n > 0 && !s.fields[n-1] {
			s.fields[n-1] = true
			s.codes--
		}
	case charFieldEnd:
		if n := len(s.fields); n > 0 {
			if !s.fields[n-1] {
				s.codes--
			}
			s.fields = s.fields[:n-1]
		}
	case charParagraph, charCell, charPage:
		s.end(c, place, p, s.look.deleted || s.look.hidden)
	default:
		if shown {
			s.write(cp, c)
		}
	}
}

// write adds a character to the paragraph.
func (s *scan) write(cp int, c rune) {
	text := &s.now.text
	if len(s.reader.boxes) > 0 && (c == charDrawing || c == charPicture) {
		s.anchor(cp)
	}
	switch c {
	case charTab:
		text.WriteByte(' ')
	case charLine, charColumn:
		text.WriteByte('\n')
	case charHyphen:
		text.WriteRune('‑')
	case charPicture:
		if s.look.pictured && !s.look.data {
			s.addInline(s.look.picture)
		}
	case charDrawing:
		s.now.drawn = append(s.now.drawn, s.floating[cp]...)
	case charNote:
		if note := s.notes[cp]; note != "" {
			s.now.notes = append(s.now.notes, note)
		}
	case charSymbol:
		const private, privateEnd = 0xE000, 0xF8FF // of the font
		if !s.look.special {
			text.WriteRune(c)
		} else if s.look.symbol >= ' ' && (s.look.symbol < private || s.look.symbol > privateEnd) {
			text.WriteRune(s.look.symbol)
		}
	default:
		if c >= ' ' && c != charSoftHyphen {
			text.WriteRune(c)
		}
	}
}

// anchor adds the text boxes that are anchored up to a place.
func (s *scan) anchor(cp int) {
	for len(s.reader.boxes) > 0 && s.reader.boxes[0].at <= cp {
		s.now.after = append(s.now.after, s.reader.boxes[0].text...)
		s.reader.boxes = s.reader.boxes[1:]
	}
}

// end ends a paragraph at its mark. One whose mark is gone goes on in the next, but for the marks of cells.
func (s *scan) end(mark rune, place uint32, p *piece, gone bool) {
	in := s.now
	in.properties = s.file.paragraph(place)
	each(p.changes, func(name int, value []byte) { in.change(s.file, name, value) })
	if in.gone = gone; gone && mark == charParagraph && in.depth == 0 {
		if in.text.Len() > 0 && !strings.HasSuffix(in.text.String(), " ") {
			in.text.WriteByte(' ')
		}
		return
	}
	in.mark = mark
	s.block(in)
	s.now = &paragraph{}
}

// block adds a paragraph to the table that it is in, or to the text.
func (s *scan) block(p *paragraph) {
	for len(s.tables) > p.depth {
		s.closeTable()
	}
	for len(s.tables) < p.depth {
		s.tables = append(s.tables, &table{})
	}
	if p.depth == 0 {
		s.out = append(s.out, block{par: p})
		return
	}
	t := s.tables[p.depth-1]
	outer := p.depth == 1
	switch {
	case outer && p.rowEnd || !outer && p.innerRowEnd:
		t.endRow(p.row, p.gone)
	default:
		t.cell = append(t.cell, block{par: p})
		if outer && p.mark == charCell || !outer && p.innerCell {
			t.cells, t.cell = append(t.cells, t.cell), nil
		}
	}
}

// closeTable ends the innermost table.
func (s *scan) closeTable() {
	n := len(s.tables) - 1
	t := s.tables[n]
	if s.tables = s.tables[:n]; len(t.cells)+len(t.cell) > 0 { // a row without an end
		t.cells = append(t.cells, t.cell)
		t.endRow(rowFormat{}, false)
	}
	if n > 0 {
		s.tables[n-1].cell = append(s.tables[n-1].cell, block{table: t})
	} else {
		s.out = append(s.out, block{table: t})
	}
}

// put adds a block to the document tree.
func (r *reader) put(b block) {
	if b.table != nil {
		r.putTable(b.table)
		return
	}
	p := b.par
	text := strings.TrimSpace(p.text.String())
	switch {
	case text == "", p.caption && r.out.Caption(outline.OneLine(text)):
	case p.caption:
		r.flushCaption()
		r.caption = outline.OneLine(text)
	case !p.toc:
		r.flushCaption()
		r.write(p, text)
	}
	for _, in := range p.after {
		r.put(in)
	}
	r.putDrawn(p)
	for _, note := range p.notes {
		r.flushCaption()
		r.out.Paragraph(note)
	}
}

// write adds the text of a paragraph as what its style makes of it.
func (r *reader) write(p *paragraph, text string) {
	switch {
	case p.title:
		r.titled = true
		r.out.Heading(1, outline.OneLine(text))
	case p.level > 0:
		level := p.level
		if r.titled {
			level++
		}
		title := outline.OneLine(text)
		if p.list > 0 {
			if mark := r.mark(p.list, p.listLevel); mark != "" && mark != "-" {
				title = mark + " " + title
			}
		}
		r.out.Heading(level, title)
	case p.list > 0:
		if mark := r.mark(p.list, p.listLevel); mark != "" {
			text = mark + " " + text
		}
		r.out.Line(strings.Repeat("  ", p.listLevel) + text)
	default:
		r.out.Paragraph(text)
	}
}

// flushCaption adds the waiting caption as a paragraph, since neither table nor picture follows it.
func (r *reader) flushCaption() {
	if r.caption != "" {
		r.out.Paragraph(r.caption)
		r.caption = ""
	}
}

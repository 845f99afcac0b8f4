package doc

import (
	"quarry/internal/extract/officeart"
	"quarry/internal/extract/outline"
)

// readFloating reads the pictures that do not stand in lines, by the places that they are anchored to. The drawings of all texts (MS-DOC,
// 2.9.171) are what they share, and then each drawing behind the number of its text. The pictures are there, too, or in the main stream.
func (r *reader) readFloating() {
	const inBody = 0
	b := r.part(partDrawings)
	_, drawings, ok := officeart.First(b)
	store, places := officeart.ReadStore(b, r.main), r.anchors()
	for ok && len(drawings) > 0 {
		var drawing officeart.Record
		text := drawings[0]
		drawing, drawings, ok = officeart.First(drawings[1:])
		if !ok || text != inBody {
			continue
		}
		for _, s := range officeart.Pictures(drawing) {
			if at, known := places[s.ID]; known {
				r.floating[at] = append(r.floating[at], outline.Picture{Description: s.Description, Data: store.Picture(s.Picture)})
			}
		}
	}
}

// addInline adds a picture that stands in a line to the paragraph (MS-DOC, 2.9.190 and 2.9.192): a header, perhaps the name of the file that it
// came from, the shape that shows it, and the list that it is in. The text may show it again, which adds nothing.
func (s *scan) addInline(at uint32) {
	const headerSize, shape, shapeOfFile = 68, 0x64, 0x66
	b := slice(s.data, at, u32(s.data, int(at)))
	if s.inline[at] || len(b) <= headerSize || u16(b, 4) != headerSize {
		return
	}
	s.inline[at] = true
	kind := u16(b, 6)
	switch b = b[headerSize:]; kind {
	case shape:
	case shapeOfFile:
		b = b[min(1+int(b[0]), len(b)):]
	default:
		return
	}
	r, list, ok := officeart.First(b)
	if !ok || r.Kind != officeart.TypeShape {
		return
	}
	in, store := officeart.ReadShape(r.Body), officeart.ReadList(list)
	if in.Picture != 0 && !in.Hidden {
		number := min(in.Picture, store.Len()) // Word also counts the pictures of the whole document, of which the list has one
		s.now.drawn = append(s.now.drawn, outline.Picture{Description: in.Description, Data: store.Picture(number)})
	}
}

// said returns what is said of the pictures of a paragraph.
func (p *paragraph) said() (all []string) {
	for _, d := range p.drawn {
		if d.Description != "" {
			all = append(all, d.Description)
		}
	}
	return all
}

// putDrawn adds the pictures of a paragraph, the first with a caption that stands right before it; of those that are not kept, what is
// said.
func (r *reader) putDrawn(p *paragraph) {
	for _, d := range p.drawn {
		d.Caption = r.caption
		if r.out.Picture(d) {
			r.caption = ""
		} else if d.Description != "" {
			r.flushCaption()
			r.out.Paragraph(d.Description)
		}
	}
}

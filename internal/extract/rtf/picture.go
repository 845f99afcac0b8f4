package rtf

import "quarry/internal/extract/outline"

// picture is one that is read. Its bytes are written in hexadecimal digits, or as they are behind \bin.
type picture struct {
	outline.Picture
	half int // the first of two digits, -1 for none
}

// hex adds digits. What is none is skipped.
func (p *picture) hex(text []byte) {
	for _, c := range text {
		switch d := digit(c); {
		case d < 0:
		case p.half < 0:
			p.half = d
		default:
			p.Data = append(p.Data, byte(p.half<<4|d))
			p.half = -1
		}
	}
}

// beginPicture begins a picture, which belongs to the open paragraph.
func (r *reader) beginPicture() {
	s := &r.state
	if !r.out.Options.Pictures || s.picture != nil || s.hidden || s.deleted || s.aside {
		return
	}
	p := &picture{half: -1}
	s.picture, s.digits = p, true
	s.closes = func() {
		if to := r.flow.paragraph(); len(p.Data) > 0 || p.Description != "" {
			to.drawn = append(to.drawn, p.Picture)
		}
	}
}

// putDrawn adds the pictures of a paragraph, the first with a caption that stands right before it; of those that are not kept, such as
// drawings and bitmaps of Windows, what is said.
func (r *reader) putDrawn(p *paragraph) {
	if p == nil {
		return
	}
	for _, d := range p.drawn {
		d.Caption = r.caption
		if r.out.Picture(d) {
			r.caption = ""
			continue
		}
		r.flushCaption()
		r.out.Paragraph(d.Description)
	}
}

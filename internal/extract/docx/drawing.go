package docx

import (
	"encoding/xml"

	"quarry/internal/extract/archive"
	"quarry/internal/extract/ooxml"
	"quarry/internal/extract/outline"
)

// drawn is a picture of a paragraph.
type drawn struct {
	part string
	outline.Picture
}

// drawing reads the drawing that was started last, in DrawingML or VML. Where pictures are kept, what is said of one goes with it; else it
// stands in the text.
func (r *reader) drawing(p *paragraph) {
	var said outline.Picture
	say := func(title, description string) {
		if said.Title == "" && said.Description == "" {
			said.Title, said.Description = outline.OneLine(title), outline.OneLine(description)
		}
	}
	var parts []string
	r.x.Each(func(e xml.StartElement) {
		switch e.Name.Local {
		case "docPr", "cNvPr":
			say(archive.Attr(e, "title"), archive.Attr(e, "descr"))
		case "shape":
			say("", archive.Attr(e, "alt"))
		case "blip", "imagedata":
			if to := ooxml.Target(r.relations, ooxml.EmbeddedID(e)); to != "" {
				parts = append(parts, to)
			}
		default:
			r.inline(p, e)
		}
	})
	if len(parts) == 0 || !r.out.Options.Pictures {
		if words := said.Words(); words != "" {
			p.text.WriteString(" " + words + " ")
		}
		return
	}
	for _, part := range parts { // of a group they share what is said of it
		p.drawn = append(p.drawn, drawn{part, said})
		said = outline.Picture{}
	}
}

// putDrawn adds the pictures of a paragraph, the first with a caption that stands right before it; of those that are not kept, what
// is said.
func (r *reader) putDrawn(p *paragraph) {
	for _, d := range p.drawn {
		d.Data, d.Caption = r.pack.Picture(d.part), r.caption
		if r.out.Picture(d.Picture) {
			r.caption = ""
			continue
		}
		r.flushCaption()
		r.out.Paragraph(outline.OneLine(d.Title + " " + d.Description))
	}
}
